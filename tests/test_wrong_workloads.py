"""Wrong workloads: one clear sentence each, before training starts, and no traceback."""

from pathlib import Path

import pytest

from loops import make_loop
from processes import ROOT, group
from scalewise.errors import UserError
from scalewise.workloads.find import find_workload

FILE = ROOT / "tests" / "workloads" / "wrong.py"
find_workload(f"{FILE}:Right")  # which imports the file
from scalewise_workload_wrong import EXPECTED  # type: ignore[import-not-found] # noqa: E402 - by that name


@pytest.mark.parametrize("name", EXPECTED)
def test_a_wrong_workload_gets_one_sentence(name: str) -> None:
    with pytest.raises(UserError) as caught:
        make_loop(workload=f"{FILE}:{name}")
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence) < 400, sentence
    for word in EXPECTED[name]:
        assert word in sentence, sentence


@pytest.mark.parametrize("name", ["Right", "Line", "TopTwo"])
def test_a_right_one_gets_none(name: str) -> None:
    make_loop(workload=f"{FILE}:{name}")


@pytest.mark.parametrize("name", ["NanLabels", "MeanLoss", "OfAllFails"])
def test_the_command_says_it_once_for_all_workers_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    ended = group(2, "train", f"{FILE}:{name}", "--out", tmp_path / "run")
    assert ended.exit_code == 2, ended.output
    assert ended.output.count("scalewise: ") == 1 and ended.output.count("\n") == 1, ended.output
    assert not (tmp_path / "run").exists()
