"""What the command line shows, and what a run leaves behind."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import termios
from pathlib import Path

import pytest
import torch
import yaml
from safetensors.torch import load_file

from processes import ROOT, group, train
from scalewise import __version__
from scalewise.cli.train import ENDS
from scalewise.config import Config, read_config
from scalewise.loop.stopping import Reason
from scalewise.requests import KINDS, Request

DIGITS = "digits/fc_64_64"
QUICK = ("--set", "stop.steps=20", "--set", "stop.target=null")


def test_help_does_not_import_torch() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "scalewise", "--help"]
    untraced = {name: value for name, value in os.environ.items() if name != "SCALEWISE_TEST_COVERAGE"}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=untraced)
    assert "Usage:" in ended.stdout
    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "typer" in imported
    assert not imported & {"torch", "matplotlib", "polars", "scipy", "numpy", "pydantic", "yaml"}


def test_the_version() -> None:
    assert group(1, "--version").output == f"scalewise {__version__}\n"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_help_says_what_to_type(kind: type[Request]) -> None:
    shown = group(1, kind.command, "--help", env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"})
    assert shown.exit_code == 0
    for example in kind.examples:
        assert example in shown.output
    assert not re.search(r"<\w+", shown.output.replace("classification_error<0.12", ""))


def test_a_shell_completes_commands_and_options() -> None:
    def completed(line: str) -> str:
        asked = {"_SCALEWISE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        return group(1, env=asked).output

    assert sorted(completed("scalewise p").split()) == ["plan", "predict"]
    assert sorted(completed("scalewise study --max").split()) == ["--max-epochs", "--max-steps"]


@pytest.mark.parametrize(
    "command", [["workloads"], ["data"], ["--version"], ["plan", "--help"], ["train", DIGITS, *QUICK]]
)
@pytest.mark.parametrize(
    ("output", "exit_codes", "says"),
    [
        ("> >(true)", (0, 141), ""),
        (">&-", (0,), ""),
        ("> /dev/full", (2,), "cannot write to standard output: No space left on device"),
    ],
    ids=["reader gone", "closed", "full"],
)
def test_output_that_nobody_can_read(
    command: list[str], output: str, exit_codes: tuple[int, ...], says: str, tmp_path: Path
) -> None:
    line = f"{shlex.join([sys.executable, '-m', 'scalewise', *command])} {output}"
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode in exit_codes
    assert "Traceback" not in ended.stderr
    assert ended.stderr.count("scalewise: ") == bool(says) and says in ended.stderr


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    out = os.fsdecode(os.fsencode(tmp_path) + b"/r\xff")
    for command in (["train", DIGITS, *QUICK, "--workers", "2", "--out", out], ["report", out]):
        ended = subprocess.run([sys.executable, "-m", "scalewise", *command], capture_output=True, text=True)
        assert (ended.returncode, "r\\udcff" in ended.stdout) == (0, True), ended.stderr


def test_workloads_lists_them_all() -> None:
    output = group(1, "workloads").output
    for name in ("digits/fc_<widths>", "mnist/simple_cnn_base", "mnist_subsets/mnist_6875/simple_cnn_narrow"):
        assert name in output
    assert re.search(r"digits/fc_<widths> +val/classification_error<0.05", output)
    assert re.search(r"mnist +55,000 +5,000 +10,000 +11.6 MB +here", output)


def read_terminal(main: int) -> str:
    shown = b""
    try:
        while chunk := os.read(main, 65536):
            shown += chunk
    except OSError:  # how a terminal says that the other side is gone
        pass
    return shown.decode()


def test_workloads_fit_into_a_narrow_terminal() -> None:
    main, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (60, 80))
    process = subprocess.Popen([sys.executable, "-m", "scalewise", "workloads"], stdout=terminal, cwd=ROOT)
    os.close(terminal)
    lines = re.sub(r"\x1b\[\d*m", "", read_terminal(main)).splitlines()
    assert process.wait() == 0
    assert max(map(len, lines)) <= 80
    longest = "mnist_subsets/mnist_13750/simple_cnn_narrow  val/classification_error<0.02"
    assert any(line.startswith(longest) for line in lines)  # no cell is cut or wrapped


def test_data_shows_where_it_looks() -> None:
    assert "looked for in" in group(1, "data").output


def test_the_run_folder_is_complete(tmp_path: Path) -> None:
    run = train(2, DIGITS, tmp_path / "run", *QUICK)
    names = {entry.name for entry in run.path.iterdir()}
    assert names == {"run.yaml", "metadata.json", "measurements.csv", "model.safetensors", ".lock"}
    metadata = run.metadata
    assert metadata["status"] == "COMPLETE" and metadata["stopped_by"] == "steps"
    assert metadata["steps"] == 20 and metadata["examples"] == 20 * 64
    assert metadata["workers"] == 2 and metadata["weights"] == 64 * 64 + 64 + 64 * 64 + 64 + 640 + 10
    assert metadata["training_seconds"] > 0 and metadata["evaluation_seconds"] > 0
    assert metadata["checkpoint_seconds"] == 0
    assert metadata["versions"]["torch"] == torch.__version__ and metadata["versions"]["scalewise"] == __version__
    assert metadata["hardware"]["cores"] >= 1
    assert metadata["parameters"]["learning_rate"] == 0.1
    if (ROOT / ".git").exists():
        assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", metadata["git_commit"])
    assert list(run.rows[0]) == [
        "step",
        *(
            f"{split}/{name}"
            for split in ("train", "val", "test")
            for name in ("cross_entropy_error", "classification_error")
        ),
    ]


def test_run_yaml_repeats_the_run(tmp_path: Path) -> None:
    first = train(1, DIGITS, tmp_path / "first", *QUICK, "--exact", "--set", "recipe.learning_rate=1e-2")
    config = read_config(first.path / "run.yaml")
    assert config.recipe.learning_rate == 0.01 and config.recipe.microbatch == 32
    again = train(1, DIGITS, tmp_path / "again", "--recipe", first.path / "run.yaml")
    assert again.bits == first.bits


def test_the_model_loads_into_the_plain_network(tmp_path: Path) -> None:
    from scalewise.workloads.find import find_workload

    run = train(1, DIGITS, tmp_path / "run")
    workload = find_workload(DIGITS)
    model = workload.model().eval()
    model.load_state_dict(load_file(run.path / "model.safetensors"))
    val = workload.data()["val"]
    error = float(workload.metrics(model(val.inputs), val.targets)["classification_error"].float().mean())
    assert error == pytest.approx(float(run.rows[-1]["val/classification_error"]))
    assert error < 0.05


def test_json_goes_to_standard_output_alone(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "scalewise",
        "train",
        DIGITS,
        "--json",
        "--out",
        str(tmp_path / "run"),
        "--workers",
        "2",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(ended.stdout)["status"] == "COMPLETE"
    assert "step 0" in ended.stderr


def test_the_same_command_finds_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "scalewise", "train", DIGITS, *QUICK]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout for _ in range(2)
    )
    assert first == second
    assert re.search(r"results in runs/digits/fc_64_64/[0-9a-f]{10}\n", first)


def test_tensorboard_files_when_asked_for(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

    run = train(2, DIGITS, tmp_path / "run", *QUICK, "--set", "record.tensorboard=true")
    events = EventAccumulator(str(run.path / "tensorboard"))
    events.Reload()
    assert len(events.Scalars("train/loss")) == 20
    assert [event.step for event in events.Scalars("val/classification_error")] == [
        int(row["step"]) for row in run.rows
    ]


def test_a_terminal_gets_one_live_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scalewise", "train", DIGITS, "--out", str(tmp_path / "run")]
    main, terminal = pty.openpty()
    environment = {**os.environ, "COLUMNS": "150", "TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, cwd=ROOT, env=environment)
    os.close(terminal)
    text = read_terminal(main)
    assert process.wait() == 0
    assert "\x1b[2K" in text  # the line is drawn over itself
    for part in ("examples/s", "left", "val/classification_error", "(target <0.05)", "results in"):
        assert part in text


def test_every_setting_is_described() -> None:
    for section in Config.model_fields.values():
        fields = getattr(section.annotation, "model_fields", {})
        assert all(field.description for field in fields.values())


def test_an_example_recipe_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump({"recipe": {"global_batch": 32}, "stop": {"steps": 5, "target": None}}))
    run = train(1, DIGITS, tmp_path / "run", "--recipe", file, "--set", "recipe.global_batch=16")
    assert run.metadata["parameters"]["global_batch"] == 16
    assert run.metadata["steps"] == 5


def test_every_reason_for_an_end_has_its_words() -> None:
    assert set(ENDS) == set(Reason)
