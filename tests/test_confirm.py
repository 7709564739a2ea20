"""What is recommended was trained again with fresh seeds; a setting that won by luck is not."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from processes import group
from recorded import run_metadata
from scalewise.plan.statistics import Statistic
from scalewise.plan.steps_source import NothingHeld, steps_from_study
from scalewise.record.confirmations import Confirmations
from scalewise.study.batch_plan import plan_study
from scalewise.study.confirm import FRESH_RUNS, Setting, confirm
from studies import complete, study_request, write_study

TARGET = "val/classification_error<0.03"


def write_fresh_runs(root: Path, trial_id: int, **ended: str) -> None:
    """Write how the fresh runs of a trial ended: by seed, why and after how many steps."""
    confirmations = Confirmations(root / "_scalewise" / "confirmed" / "mnist" / "fc_64" / "sgd" / "64")
    for seed, text in ended.items():
        stopped_by, steps = text.split()
        folder = confirmations.folder(trial_id, int(seed.removeprefix("seed_")))
        folder.path.mkdir(parents=True)
        status = {"diverged": "INFEASIBLE", "signal": "INCOMPLETE"}.get(stopped_by, "COMPLETE")
        folder.write_metadata(run_metadata(status=status, stopped_by=stopped_by, steps=int(steps), target=TARGET))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two trials that reached the target, after 30 and after 50 steps."""
    write_study(tmp_path, 64, {0: ["0,0.9,0.9", "30,0.1,0.02"], 1: ["0,0.9,0.9", "50,0.1,0.02"], 2: ["0,0.9,0.9"]})
    return tmp_path


def known(study: Path) -> Statistic:
    (statistic,) = steps_from_study(study, TARGET).statistics.known
    return statistic


def test_the_winner_of_a_study_ran_once(study: Path) -> None:
    found = known(study)
    assert (found.steps, found.reliability, found.runs, found.best_of) == (30, None, 1, 3)


def test_fresh_runs_say_what_a_typical_run_takes(study: Path) -> None:
    write_fresh_runs(study, 0, seed_1="target 40", seed_2="target 60", seed_3="steps 100", seed_4="signal 7")
    found = known(study)
    assert (found.steps, found.runs, found.best_of) == (50, 3, None)
    assert found.reliability == pytest.approx(2 / 3)
    assert (found.fewest, found.most) == (40, 60)
    assert found.expected_steps == pytest.approx(50 + 0.5 * 100)


def test_a_fresh_run_that_diverges_early_is_a_failure(study: Path) -> None:
    write_fresh_runs(study, 0, seed_1="target 40", seed_2="target 60", seed_3="diverged 3")
    assert known(study).reliability == pytest.approx(2 / 3)


def test_a_setting_that_mostly_fails_is_replaced_by_the_next_best(study: Path) -> None:
    write_fresh_runs(study, 0, seed_1="target 40", seed_2="steps 100", seed_3="diverged 9")
    source = steps_from_study(study, TARGET)
    assert source.trials[64]["seed"] == 1
    assert known(study).steps == 50 and known(study).reliability is None
    (unstable,) = source.unstable
    assert (unstable.global_batch, unstable.steps, unstable.runs, unstable.reached) == (64, 30, 3, 1)


def test_where_nothing_holds_it_says_so(study: Path) -> None:
    for trial_id in (0, 1):
        write_fresh_runs(study, trial_id, seed_1="steps 100", seed_2="steps 100", seed_3="target 90")
    with pytest.raises(NothingHeld, match=r"reached .* again with fresh seeds"):
        steps_from_study(study, TARGET)


def test_fresh_runs_to_another_target_tell_nothing(study: Path) -> None:
    write_fresh_runs(study, 0, seed_1="target 40", seed_2="target 60", seed_3="target 70")
    (found,) = steps_from_study(study, "val/classification_error<0.04").statistics.known
    assert found.best_of == 3


def test_a_setting_is_trained_with_fresh_seeds_and_planned_with(tmp_path: Path) -> None:
    asked = study_request(tmp_path / "study", trials=3, batch_sizes=(32,), target="val/classification_error<0.3")
    complete(asked)
    (plan,) = plan_study(asked)
    best = steps_from_study(tmp_path / "study", None).trials[32]["seed"]
    setting = Setting(plan, int(best))
    confirm([setting], jobs=2, deadline=None)
    assert setting.confirmed()
    seeds = [folder.config().recipe.seed for _, folder in setting.fresh_runs()]
    assert len(set(seeds)) == FRESH_RUNS and not set(seeds) & set(range(plan.trials))
    (found,) = steps_from_study(tmp_path / "study", None).statistics.known
    assert found.runs == FRESH_RUNS and found.best_of is None
    content = planned(tmp_path, "--study", tmp_path / "study")
    fastest = content["fastest"]
    assert (fastest["runs"], fastest["reliability"]) == (FRESH_RUNS, found.reliability)
    stop = yaml.safe_load(Path(fastest["recipe"]).read_text())["stop"]
    assert stop["steps"] == plan.course.max_steps and stop["target"] == "val/classification_error<0.3"


def test_a_single_run_is_shown_as_unknown(study: Path, tmp_path: Path) -> None:
    content = planned(tmp_path, "--study", study, "--target", TARGET)
    assert content["fastest"]["reliability"] is None
    assert "the best of 3 trials and may have been lucky" in " ".join(content["says"])
    shown = plan_command(tmp_path, "--study", study, "--target", TARGET)
    assert "unknown (1 run)" in shown.output and "100%" not in shown.output
    refused = plan_command(tmp_path, "--study", study, "--target", TARGET, "--reliability", "0.9")
    assert refused.exit_code == 2 and "the reliability of a setting that ran once is unknown" in refused.output
    report = group(1, "report", tmp_path / "plan")
    assert report.exit_code == 0, report.output
    assert "unknown (1 run)" in (tmp_path / "plan" / "report.md").read_text()


def plan_command(folder: Path, *arguments: object) -> Any:
    clusters, speeds = folder / "clusters.yaml", folder / "throughput.csv"
    clusters.write_text("- {name: c, price_per_hour: 1}\n")
    speeds.write_text("cluster,workers,global_batch,step_seconds\nc,1,32,0.1\nc,1,64,0.2\n")
    files = ("--clusters", clusters, "--throughput", speeds, "--out", folder / "plan")
    return group(1, "plan", *files, *arguments)


def planned(folder: Path, *arguments: object) -> dict[str, Any]:
    ended = plan_command(folder, *arguments, "--json")
    assert ended.exit_code == 0, ended.output
    content: dict[str, Any] = json.loads(ended.output)
    return content
