"""Runs, comparisons and studies of version 0.1.0 are read, reported and continued."""

import json
import shutil
from pathlib import Path

import pytest

from old_runs import COMPARE, INTERRUPTED, INTERRUPTED_SETTINGS, RUN, STUDY, STUDY_SETTINGS
from processes import group, train
from scalewise.analysis.analyze import analyze
from scalewise.loop.stopping import Reason
from scalewise.record.folder import RunFolder
from scalewise.record.results.compare import CompareResult
from scalewise.record.status import Status
from scalewise.record.study_folder import find_studies
from scalewise.report.kinds import read_sections
from scalewise.requests import AnalyzeRequest


@pytest.mark.parametrize("folder", [RUN, INTERRUPTED, COMPARE, STUDY], ids=lambda folder: folder.name)
def test_nothing_of_a_machine_is_in_them(folder: Path) -> None:
    for file in folder.rglob("*.json"):
        content = json.loads(file.read_text())
        assert content.get("hardware", {"host": "a-machine"})["host"] == "a-machine"
        assert "/home" not in file.read_text() and "/tmp" not in file.read_text()
        assert "format" not in content


def test_a_run_is_read() -> None:
    known = RunFolder(RUN).metadata()
    assert known is not None and known.performance is not None and known.derived is not None
    assert (known.status, known.stopped_by, known.steps, known.examples) == (Status.COMPLETE, Reason.EPOCHS, 41, 5248)
    assert (known.train_examples, known.workers, known.derived.full_learning_rate) == (1297, 1, 0.1)
    assert known.versions["scalewise"] == "0.1.0"
    (section,) = read_sections(RUN)
    assert section.answer[0].startswith(
        "The run did not reach its target val/classification_error<0.05: it completed its"
    )
    assert [figure.name for figure in section.figures][-1] == "noise_scale"
    assert section.origin["versions"].startswith("scalewise 0.1.0, python ")
    assert "2 cores" in section.origin["hardware"]


def test_a_run_that_is_complete_stays_so(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(RUN, tmp_path / "run"))
    ended = group(1, "train", "digits/fc_16", "--recipe", folder / "run.yaml", "--out", folder)
    assert (ended.exit_code, "COMPLETE: completed its epochs" in ended.output) == (0, True), ended.output
    assert (folder / "metadata.json").read_bytes() == (RUN / "metadata.json").read_bytes()


def test_an_interrupted_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    (section,) = read_sections(INTERRUPTED)
    assert section.answer[:2] == [
        "The run was stopped by a signal after 21 steps, 21.9 ms of training on 1 worker.",
        "The same command continues it.",
    ]
    folder = Path(shutil.copytree(INTERRUPTED, tmp_path / "run"))
    started = json.loads((folder / "metadata.json").read_text())["started"]
    run = train(1, "digits/fc_16", folder, *INTERRUPTED_SETTINGS)
    whole = train(1, "digits/fc_16", tmp_path / "whole", *INTERRUPTED_SETTINGS)
    assert "continues from the checkpoint at step 21" in run.output
    assert (run.bits, run.rows) == (whole.bits, whole.rows)
    assert (run.metadata["status"], run.metadata["started"], run.metadata["format"]) == ("COMPLETE", started, 2)


def test_a_comparison_is_read_and_seen_to_be_complete(tmp_path: Path) -> None:
    result = CompareResult.read(COMPARE)
    assert [(row.name, row.global_batch, row.trials) for row in result.rows] == [
        ("baseline", 32, 1),
        ("naive", 256, 1),
        ("linear+warmup", 256, 1),
    ]
    assert result.asked.recipes == ("naive", "linear+warmup")
    (section,) = read_sections(COMPARE)
    assert section.answer[0].startswith("Of 2 recipes at batch 256, naive does best: it ends at 85.6 % validation")
    folder = Path(shutil.copytree(COMPARE, tmp_path / "compare"))
    asked = ("--baseline-batch", 32, "--global-batch", 256, "--epochs", 6, "--seeds", 1, "--out", folder)
    ended = group(1, "compare", "digits/fc_16", "--recipes", "naive,linear+warmup", *asked)
    assert ended.exit_code == 0, ended.output
    assert "step " not in ended.output  # nothing was trained again
    again = CompareResult.read(folder)
    assert (again.rows, again.asked) == (result.rows, result.asked)


def test_a_study_is_read_analysed_and_continued(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STUDY, tmp_path / "study"))
    described = [study.description() for study in find_studies(folder)]
    assert [(one.batch_size, one.max_steps, one.early_stopping) for one in described] == [
        (32, 244, True),
        (128, 61, True),
    ]
    curve = analyze(AnalyzeRequest(folder=folder)).workloads[0].curve
    assert [(row.batch_size, row.steps, row.trials) for row in curve.rows] == [(32, 31, 4), (128, 26, 4)]
    (section,) = read_sections(folder)
    assert section.answer[0].startswith("At least 3 batch sizes must reach the target")
    files = {file: file.read_bytes() for file in folder.rglob("[0-9]/*")}
    asked = ("study", "digits/fc_16", *STUDY_SETTINGS, "--out", folder)
    complete = group(1, *asked, "--trials", 4)
    assert (complete.exit_code, "trials done" in complete.output) == (0, False), complete.output
    assert {file: file.read_bytes() for file in files} == files
    more = group(1, *asked, "--trials", 5)
    assert (more.exit_code, "10 of 10 trials done" in more.output) == (0, True), more.output
    assert [len(study.trials()[0]) for study in find_studies(folder)] == [5, 5]
