"""The comparison of recipes: a table, a picture, and nothing trained twice."""

import json
from pathlib import Path

import pytest
from PIL import Image

from mischief import MISCHIEF, mischief
from processes import NETS, Finished, Run, group, scalewise

QUICK = ("--global-batch", "320", "--baseline-batch", "80", "--epochs", "2")
DIGITS = "digits/fc_64_64"


def compare(out: Path, recipes: str, *arguments: object, workload: str = DIGITS) -> Finished:
    return group(1, "compare", workload, "--recipes", recipes, "--out", out, *QUICK, *arguments)


def test_recipes_are_compared_with_the_baseline(tmp_path: Path) -> None:
    ended = compare(tmp_path, "naive,linear,linear+warmup", "--seeds", 2, "--set", "recipe.warmup_length=1 epochs")
    assert ended.exit_code == 0, ended.output
    found = json.loads((tmp_path / "compare.json").read_text())
    rows = {row["name"]: row for row in found["rows"]}
    assert list(rows) == ["baseline", "naive", "linear", "linear+warmup"]
    assert rows["baseline"]["global_batch"] == 80 and rows["linear"]["global_batch"] == 320
    assert rows["baseline"]["final"]["mean"] > rows["naive"]["final"]["mean"]  # fewer steps at the same rate
    assert rows["linear"]["against_baseline"] > rows["naive"]["against_baseline"]
    assert rows["naive"]["final"]["lowest"] <= rows["naive"]["final"]["mean"] <= rows["naive"]["best"]["highest"]
    assert {row["trials"] for row in rows.values()} == {2}
    assert Run(tmp_path / "linear" / "1").metadata["parameters"]["seed"] == 1
    # scaling starts from the baseline: the workload's rate, 0.1, at the baseline's batch
    assert Run(tmp_path / "linear" / "0").metadata["derived"]["full_learning_rate"] == pytest.approx(0.4)
    for name in rows:
        assert name in ended.output
    with Image.open(tmp_path / "compare.png") as picture:
        assert picture.width > 1000


def test_a_comparison_is_continued_and_nothing_is_trained_twice(tmp_path: Path) -> None:
    assert compare(tmp_path, "naive").exit_code == 0
    before = (tmp_path / "naive" / "0" / "metadata.json").stat().st_mtime_ns
    ended = compare(tmp_path, "naive,linear", "--seeds", 2)
    assert ended.exit_code == 0, ended.output
    assert (tmp_path / "naive" / "0" / "metadata.json").stat().st_mtime_ns == before
    assert Run(tmp_path / "linear" / "1").metadata["status"] == "COMPLETE"


def test_a_stopped_comparison_goes_on_where_it_was(tmp_path: Path) -> None:
    interrupt = mischief("SIGINT", tmp_path / "once", count=170)  # the baseline, the first trial, computes 166 losses
    arguments = ("compare", MISCHIEF, "--recipes", "naive,linear", "--out", tmp_path / "out", *QUICK)
    ended = group(1, *arguments, env=interrupt)
    assert ended.exit_code == 4, ended.output
    assert "the same command continues the comparison" in ended.output
    ended = group(1, *arguments)
    assert ended.exit_code == 0, ended.output
    rows = json.loads((tmp_path / "out" / "compare.json").read_text())["rows"]
    assert [row["trials"] for row in rows] == [1, 1, 1]


def test_a_diverged_trial_is_a_row(tmp_path: Path) -> None:
    wild = tmp_path / "wild.yaml"
    wild.write_text("recipe: {learning_rate: 1.0e+30}\n")
    ended = compare(tmp_path / "out", f"naive,{wild}")
    assert ended.exit_code == 0, ended.output
    rows = json.loads((tmp_path / "out" / "compare.json").read_text())["rows"]
    assert (rows[-1]["diverged"], rows[-1]["final"], rows[-1]["against_baseline"]) == (1, None, None)
    assert "1 of 1" in ended.output


def test_a_recipe_may_have_a_workload_of_its_own(tmp_path: Path) -> None:
    ended = compare(
        tmp_path, f"naive,ghost@{NETS}:BatchNorm", "--set", "recipe.microbatch=40", workload=f"{NETS}:Dropout"
    )
    assert ended.exit_code == 0, ended.output
    rows = json.loads((tmp_path / "compare.json").read_text())["rows"]
    assert [row["workload"] for row in rows] == [f"{NETS}:Dropout", f"{NETS}:Dropout", f"{NETS}:BatchNorm"]


def test_two_workers_by_the_real_command_line(tmp_path: Path) -> None:
    ended = scalewise(
        "compare", DIGITS, "--recipes", "naive", "--out", tmp_path, *QUICK, "--workers", 2, "--json"
    )  # fmt: skip
    assert ended.exit_code == 0, ended.output
    content = json.loads(ended.output[ended.output.index("{") :])
    assert [row["name"] for row in content["rows"]] == ["baseline", "naive"]
    assert Run(tmp_path / "naive" / "0").metadata["workers"] == 2


@pytest.mark.parametrize(
    ("recipes", "arguments", "words"),
    [
        ("naive,liner", (), "did you mean 'linear'"),
        ("naive,naive", (), "names 'naive' twice"),
        ("naive,@digits/fc_32", (), "an item without a recipe"),
        ("ghost", (), "no batch normalisation"),
        ("naive", ("--set", "recipe.microbatch=200"), "larger than recipe.global_batch=80"),
        ("naive@digit/fc_4", (), "did you mean 'digits'"),
        ("naive", ("--epochs", "0"), "stop.epochs=0"),
    ],
)
def test_mistakes(recipes: str, arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    ended = compare(tmp_path / "out", recipes, *arguments)
    assert ended.exit_code == 2, ended.output
    assert words in ended.output
