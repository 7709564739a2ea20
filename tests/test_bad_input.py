"""A user's mistake gets one clear sentence that says how to fix it, exit code 2 and no traceback."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from processes import NETS, Run, group, scalewise, train

DIGITS = "digits/fc_64_64"

MISTAKES = [
    # what is typed, and what the sentence must say
    (["digit/fc_64"], ["unknown workload", "did you mean 'digits'"]),
    (["fc_64"], ["unknown workload", "there are digits, mnist"]),
    (["digits/resnet"], ["no model is named 'resnet'", "simple_cnn_base"]),
    (["digits/simple_cnn_bas"], ["did you mean 'simple_cnn_base'"]),
    (["cifar_10/fc_64"], ["no model is named 'fc_64'; there are resnet_8, plain_cnn"]),
    (["digits/fc_0"], ["no model is named 'fc_0'"]),
    ([DIGITS, "--set", "recipe.global_bach=5"], ["unknown key 'recipe.global_bach'", "'recipe.global_batch'"]),
    ([DIGITS, "--set", "learning_rate=5"], ["unknown key", "did you mean 'recipe.learning_rate'"]),
    ([DIGITS, "--set", "recipe=5"], ["recipe is a section of keys"]),
    ([DIGITS, "--set", "recipe.global_batch"], ["is not like 'recipe.global_batch=512'"]),
    ([DIGITS, "--set", "recipe.global_batch={"], ["not valid YAML"]),
    ([DIGITS, "--set", "recipe.global_batch=many"], ["recipe.global_batch='many'", "integer"]),
    ([DIGITS, "--set", "recipe.global_batch=0"], ["recipe.global_batch=0", "greater than 0"]),
    ([DIGITS, "--set", "recipe.global_batch=-8"], ["greater than 0"]),
    ([DIGITS, "--set", "recipe.microbatch=0"], ["recipe.microbatch=0", "greater than 0"]),
    ([DIGITS, "--set", "recipe.microbatch=many"], ["recipe.microbatch='many'"]),
    ([DIGITS, "--set", "recipe.microbatch=128"], ["larger than recipe.global_batch=64"]),
    ([DIGITS, "--set", "recipe.learning_rate=.nan"], ["recipe.learning_rate=nan", "finite"]),
    ([DIGITS, "--set", "recipe.momentum=1"], ["recipe.momentum=1", "less than 1"]),
    ([DIGITS, "--set", "recipe.optimizer=adagrad"], ["'sgd', 'momentum', 'nesterov_momentum'"]),
    ([DIGITS, "--set", "stop.target=error"], ["is not like 'val/classification_error<0.05'"]),
    ([DIGITS, "--set", "stop.target=val/error<low"], ["is not like"]),
    ([DIGITS, "--set", "stop.target=val/clasification_error<0.1"], ["did you mean 'val/classification_error'"]),
    ([DIGITS, "--set", "stop.target=null", "--set", "stop.epochs=null"], ["nothing ends this run"]),
    ([DIGITS, "--set", "cluster.device=cuda"], ["needs a GPU per worker"]),
    ([DIGITS, "--workers", "3"], ["2 microbatches of 32", "at most 2 workers or a microbatch of 22"]),
    ([DIGITS, "--recipe", "no/such.yaml"], ["cannot read no/such.yaml"]),
    ([DIGITS, "--recipe", "liner"], ["neither a recipe file nor a preset", "did you mean 'linear'"]),
    ([DIGITS, "--recipe", "linear+nothing"], ["the presets are naive, linear"]),
    ([DIGITS, "--set", "recipe.warmup_length=5"], ["recipe.warmup_length=5"]),
    ([DIGITS, "--set", "recipe.warmup_length=5 weeks"], ["a duration such as '5 epochs'"]),
    (
        [DIGITS, "--set", "recipe.warmup=stepping", "--set", "recipe.warmup_length=99 epochs"],
        ["recipe.warmup_length=99 epochs", "longer than the run"],
    ),
    ([DIGITS, "--set", "recipe.loss_scale=1024"], ["recipe.loss_scale=1024.0", "recipe.precision=fp16, not fp32"]),
    ([DIGITS, "--set", "recipe.lars_coefficient=-1"], ["recipe.lars_coefficient=-1", "greater than 0"]),
    (
        [DIGITS, "--set", "recipe.schedule=one_cycle", "--set", "stop.epochs=null"],
        ["recipe.schedule=one_cycle needs a length", "recipe.schedule_length"],
    ),
    ([DIGITS, "--set", "recipe.ghost_batch=8"], ["no batch normalisation"]),
    ([DIGITS, "--set", "recipe.zero_init_residual=true"], ["branch_end"]),
    ([DIGITS, "--set", "cluster.wire=bf16", "--exact"], ["gives up exactness"]),
    ([DIGITS, "--set", "cluster.wire=bf16", "--set", "recipe.combine=adasum"], ["not adasum"]),
    ([DIGITS, "--set", "recipe.average_half_life=0 steps"], ["must be greater than 0"]),
    (
        [DIGITS, "--set", "recipe.image_sizes=[[0 steps, 16]]"],
        ["does not take what recipe.image_sizes makes", "(4, 1, 16, 16)"],
    ),
    ([DIGITS, "--set", "stop.loss=val/cross_entropy_error<1"], ["stop.loss", "train_loss<5.0"]),
    ([f"{NETS}:Regression", "--set", "recipe.augmentation=flip_and_crop"], ["is for images"]),
    ([f"{NETS}"], ["names a file but no class"]),
    ([f"{NETS}:Digit"], ["no workload 'Digit'", "did you mean 'Digits'"]),
    ([f"{NETS}:json"], ["is not a class that extends", "it is a module"]),
    ([f"{NETS}:Unused"], ["is not a class that extends", "it is a class that extends nn.Linear"]),
    ([f"{NETS.parent}:Digits"], ["is a folder, not a file", "FILE.py:Digits"]),
    ([f"{NETS.with_suffix('')}:Digits"], [f"did you mean '{NETS}:Digits'?"]),
    (["no/such/file.py:Mine"], ["does not exist"]),
    ([f"{NETS}:OwnBuffer"], ["changes its buffer 'seen'"]),
    ([f"{NETS}:MeanLoss"], ["loss() must give one value per example"]),
    ([f"{NETS}:NoVal"], ["no split val"]),
    ([f"{NETS}:BatchNorm", "--set", "recipe.microbatch=79"], ["at least 2 values per channel"]),
    ([f"{NETS}:Regression", "--set", "recipe.label_smoothing=0.1"], ["has no labels to smooth"]),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=[" ".join(a)[-60:] for a, _ in MISTAKES])
def test_a_mistake_gets_one_sentence(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    ended = group(1, "train", *arguments, "--out", tmp_path / "run")
    assert_one_sentence(ended.exit_code, ended.output, words)
    assert not (tmp_path / "run").exists()


def assert_one_sentence(exit_code: int, output: str, words: list[str]) -> None:
    assert exit_code == 2, output
    assert output.startswith("scalewise: ") and output.count("\n") == 1, output
    for word in words:
        assert word in output


def test_a_mistake_is_told_once_by_a_group(tmp_path: Path) -> None:
    ended = group(3, "train", f"{NETS}:MeanLoss", "--out", tmp_path / "run")
    assert_one_sentence(ended.exit_code, ended.output, ["one value per example"])


def test_a_mistake_is_told_once_by_the_launcher(tmp_path: Path) -> None:
    ended = scalewise("train", f"{NETS}:MeanLoss", "--out", tmp_path / "run", "--workers", 2)
    assert_one_sentence(ended.exit_code, ended.output, ["one value per example"])


def test_a_workload_that_looks_like_an_option(tmp_path: Path) -> None:
    shutil.copy(NETS, tmp_path / "-w.py")
    command = [sys.executable, "-m", "scalewise", "train", "--workers", "2", "--set", "stop.steps=2", "--out", "-run"]
    ended = subprocess.run([*command, "--", "-w.py:Dropout"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert Run(tmp_path / "-run").metadata["workers"] == 2


@pytest.mark.parametrize("content", ["recipe: [", "- just\n- a list", "recipe:\n  global_batch: many", b"\xff\xfe\x00"])
def test_a_corrupt_recipe_file(content: str | bytes, tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = group(1, "train", DIGITS, "--recipe", file, "--out", tmp_path / "run")
    assert_one_sentence(ended.exit_code, ended.output, [])


def test_missing_data_says_how_to_get_it(tmp_path: Path) -> None:
    ended = group(1, "train", "mnist/fc_64", "--out", tmp_path / "run", env={"SCALEWISE_DATA": str(tmp_path)})
    assert_one_sentence(ended.exit_code, ended.output, ["not on this machine", "scalewise data mnist"])


def test_a_corrupt_data_file_is_found_out(tmp_path: Path) -> None:
    folder = tmp_path / "mnist"
    folder.mkdir()
    (folder / "train-images-idx3-ubyte").write_bytes(b"not what it was")
    env = {"SCALEWISE_DATA": str(tmp_path)}
    ended = group(1, "train", "mnist/fc_64", "--out", tmp_path / "run", env=env)
    assert_one_sentence(ended.exit_code, ended.output, ["is damaged: its sha256 differs"])
    (folder / "train-images-idx3-ubyte").rename(folder / "train-images-idx3-ubyte.gz")
    ended = group(1, "train", "mnist/fc_64", "--out", tmp_path / "run", env=env)
    assert_one_sentence(ended.exit_code, ended.output, ["cannot read", "fetch it again"])


def test_another_recipe_in_the_same_folder(tmp_path: Path) -> None:
    quick = ("--set", "stop.epochs=1")
    first = train(1, DIGITS, tmp_path / "run", *quick)
    ended = group(1, "train", DIGITS, "--out", first.path, *quick, "--set", "recipe.learning_rate=0.2", "--exact")
    words = ["recipe.learning_rate is 0.1 there and 0.2 now", "recipe.exact is False there and True now", "--fresh"]
    assert_one_sentence(ended.exit_code, ended.output, words)
    ended = group(1, "train", "digits/fc_64", "--out", first.path, *quick)
    assert_one_sentence(ended.exit_code, ended.output, ["workload is 'digits/fc_64_64' there and 'digits/fc_64' now"])
    before = first.bits
    fresh = train(1, DIGITS, tmp_path / "run", *quick, "--exact", "--fresh")
    (aside,) = tmp_path.glob("run.before-*")
    assert Run(aside).bits == before
    assert fresh.metadata["parameters"]["exact"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = group(1, "train", DIGITS, "--out", tmp_path / "file" / "run")
    assert_one_sentence(ended.exit_code, ended.output, ["cannot write", "Not a directory"])


def test_workers_that_the_launcher_did_not_start(tmp_path: Path) -> None:
    ended = group(2, "train", DIGITS, "--out", tmp_path / "run", "--workers", 1)
    assert ended.exit_code == 2
    assert "the launcher started 2" in ended.output


@pytest.mark.parametrize(
    "arguments", [["train"], ["train", DIGITS, "--workers", "0"], ["trane"], ["train", DIGITS, "--st"]]
)
def test_a_mistyped_command(arguments: list[str]) -> None:
    ended = group(1, *arguments)
    assert ended.exit_code == 2
    assert "Traceback" not in ended.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["data", "mnits"], ["unknown data set 'mnits'", "did you mean 'mnist'"]),
        (["data", "what"], ["there are digits, mnist, fashion_mnist, cifar_10"]),
    ],
)
def test_a_mistake_about_data(arguments: list[str], words: list[str]) -> None:
    ended = group(1, *arguments)
    assert_one_sentence(ended.exit_code, ended.output, words)
