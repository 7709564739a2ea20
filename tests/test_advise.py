"""Advice: all parts from a workload to a report, in real processes, interrupted and continued."""

import json
import signal
from pathlib import Path

import pytest

from processes import ROOT, finish, group, start, wait_until
from recorded import run_metadata
from scalewise.advise.advise import longest_trial
from scalewise.config.schema import Config, Stop
from scalewise.record.folder import RunFolder

SPIRALS = f"{ROOT / 'examples' / 'spirals.py'}:Spirals"


def test_a_users_workload_interrupted_and_continued(tmp_path: Path) -> None:
    out = tmp_path / "advise"
    command = ("advise", SPIRALS, "--target", "val/classification_error<0.2", "--out", out, "--minutes", "0.6")
    process = start(*command)
    wait_until((out / "study").exists, "the study begins")
    process.send_signal(signal.SIGTERM)
    stopped = finish(process)
    assert stopped.exit_code == 4, stopped.output
    assert "the same command continues the advice" in stopped.output
    done = {file: file.stat().st_mtime_ns for file in (out / "bench" / "bench.json", out / "pilot" / "metadata.json")}
    for _ in range(12):  # a slow machine needs more sittings until the first batch sizes are studied
        ended = group(1, *command)
        assert ended.exit_code == 0, ended.output
        if "Use a batch of" in ended.output:
            break
        assert "Allow more --minutes" in ended.output
    assert {file: file.stat().st_mtime_ns for file in done} == done, "what was done is not done again"
    last = ended.output.splitlines()[-10:]
    for beginning in (
        "Critical batch size: ",
        "Use a batch of ",
        "Workers: ",
        "Where the time goes: ",
        "The fastest",
    ):
        assert any(line.startswith(beginning) for line in last), beginning
    assert last[-1] == f"report: {out / 'report.html'}"
    page = (out / "report.html").read_text()
    for chart in ("Time against cost", "Steps to target against batch size", "Speedup against workers"):
        assert chart in page
    content = json.loads((out / "advise.json").read_text())
    assert content["workload"] == SPIRALS and len(content["says"]) >= 5


@pytest.mark.parametrize(
    ("stopped_by", "epochs"),
    [("target", 6 * 3), ("seconds", 20)],  # a pilot that was cut short says nothing about how long the target takes
)
def test_a_trial_may_take_longer_than_the_pilot(stopped_by: str, epochs: float, tmp_path: Path) -> None:
    pilot = RunFolder(tmp_path)
    pilot.write_config(Config(workload=SPIRALS, stop=Stop(epochs=20, seconds=1)))
    pilot.write_metadata(run_metadata(stopped_by=stopped_by, examples=300, train_examples=100))
    assert longest_trial(pilot) == epochs


def test_too_little_time_says_how_much_more_it_takes(tmp_path: Path) -> None:
    ended = group(1, "advise", SPIRALS, "--out", tmp_path, "--minutes", "0.05")
    assert ended.exit_code == 0, ended.output
    assert "Allow more --minutes: a first study takes " in " ".join(ended.output.split())


def test_other_advice_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "advise.json").write_text(json.dumps({"workload": "digits/fc_64_64", "target": None}))
    ended = group(1, "advise", SPIRALS, "--out", tmp_path)
    assert ended.exit_code == 2 and "holds other advice: workload is 'digits/fc_64_64' there" in ended.output
    (tmp_path / "advise.json").write_text("{")
    ended = group(1, "advise", SPIRALS, "--out", tmp_path)
    assert ended.exit_code == 2 and "cannot be read" in ended.output


@pytest.mark.parametrize(
    ("workload", "options", "says"),
    [
        (SPIRALS, ("--minutes", "0"), "--minutes 0 must be greater than 0"),
        ("digits/fc_64_6x", (), "fc_64_6x"),
        (SPIRALS, ("--target", "val/nothing<1"), "val/nothing"),
        (SPIRALS, ("--clusters", "nowhere.yaml"), "nowhere.yaml"),
    ],
)
def test_bad_input(tmp_path: Path, workload: str, options: tuple[str, ...], says: str) -> None:
    ended = group(1, "advise", workload, *options, "--out", tmp_path / "out")
    assert ended.exit_code == 2 and says in ended.output, ended.output
