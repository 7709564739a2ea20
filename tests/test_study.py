"""Studies: what is tried, how trials race, who claims them, and what is left when everything is killed."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import NETS, ROOT, Finished, finish, group, scalewise, start
from recorded import run_metadata
from scalewise.analysis.analyze import workloads_in
from scalewise.config import Target
from scalewise.errors import FolderError
from scalewise.record.folder import RunFolder
from scalewise.record.ledger import examples_trained
from scalewise.study.batch_plan import plan_study
from scalewise.study.batch_trials import progress_of
from scalewise.study.race import Course, Progress, Task, bound, kept_until, tasks
from scalewise.study.space import Parameter, point, read_spaces
from studies import complete, start_jobs, study_request

RATE = Parameter(type="DOUBLE", min_value=0.001, max_value=10, scale="LOG_SCALE")
MOMENTUM = Parameter(type="DOUBLE", min_value=0.0, max_value=0.99, scale="REVERSE_LOG_SCALE")
LABEL_SMOOTHING = Parameter(type="DISCRETE", feasible_points=(0.0, 0.01, 0.1))
DECAY = Parameter(type="INTEGER", min_value=1, max_value=4)
COURSE = Course(batch_size=10, every_examples=100, max_steps=320)


def published(out: Path) -> dict[str, bytes]:
    """Return every file of a study but those that are its own business."""
    files = (file for file in out.rglob("*") if file.is_file() and "_scalewise" not in file.parts)
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in files}


def answers(out: Path) -> list[dict[str, Any]]:
    (workload,) = workloads_in(out, [], [])
    names = ("batch_size", "steps", "trial_id", "low", "high")
    return [{name: getattr(row, name) for name in names} for row in workload.curve.rows]


def test_points_depend_on_nothing_but_study_seed_and_number() -> None:
    space = {"learning_rate": RATE, "momentum": MOMENTUM, "label_smoothing": LABEL_SMOOTHING}
    points = [point(space, "a", 0, number) for number in range(64)]
    assert point(space, "a", 0, 17) == points[17]
    assert point(space, "a", 1, 17) != points[17] != point(space, "b", 0, 17)
    rates = np.log([float(one["learning_rate"]) for one in points])
    counts, _ = np.histogram(rates, bins=4, range=(np.log(0.001), np.log(10)))
    assert all(12 <= count <= 20 for count in counts)  # evenly, where independent draws would be off by more
    assert {one["label_smoothing"] for one in points} == {0.0, 0.01, 0.1}


def test_values_along_each_scale() -> None:
    assert [RATE.at(share) for share in (0, 0.25, 1)] == [0.001, 0.01, 10.0]
    assert [MOMENTUM.at(share) for share in (0, 0.5, 1)] == [0.0, 0.9, 0.99]
    assert [DECAY.at(share) for share in (0.0, 0.24, 0.26, 0.999)] == [1, 1, 2, 4]
    assert [RATE.at_edge(value) for value in (0.0011, 0.1, 9.5)] == ["min_value", None, "max_value"]
    assert MOMENTUM.at_edge(0.001) is None  # less than no momentum there is not


def test_the_race_in_rounds_then_to_the_bound_then_to_the_end() -> None:
    fresh = [Progress(number) for number in range(5)]
    assert tasks(fresh, COURSE, racing=True) == [Task(number, 10) for number in range(5)]
    running = [Progress(0, 20, reached=20), Progress(1, 20), Progress(2, 10), Progress(3, 10), Progress(4, 0)]
    assert tasks(running, COURSE, racing=True) == [Task(4, 10)]
    three = [Progress(0, 20, 20), Progress(1, 30, 30), Progress(2, 40, 40), Progress(3, 30), Progress(4, 30)]
    assert bound(three) == (40, 2)
    late = [*three[:3], Progress(3, 30)]
    assert 3 not in [task.trial_id for task in tasks(late, COURSE, racing=True)]  # as soon, but a larger number
    earlier = [Progress(0, 40, 40), Progress(1, 30, 30), Progress(2, 30), Progress(3, 40, 40)]
    assert tasks(earlier, COURSE, racing=True) == [Task(2, 320)]  # as soon as trial 3, and a smaller number
    assert tasks(three, COURSE, racing=True) == [Task(number, 320, verifies=True) for number in range(3)]
    diverged = [Progress(0, 20, 20, diverged=200), *three[1:]]
    assert tasks(diverged, COURSE, racing=True) == [Task(3, 40), Task(4, 40)]  # they go on
    assert tasks(three, COURSE, racing=False) == [Task(number, 320) for number in range(5)]


def test_what_is_kept_does_not_depend_on_when_a_trial_was_stopped() -> None:
    limit = (40, 2)
    assert kept_until(Progress(1, 320, 40, finished=True), limit, COURSE, racing=True) is None
    assert [kept_until(Progress(1, step), limit, COURSE, racing=True) for step in (40, 70, 320)] == [40, 40, 40]
    assert kept_until(Progress(3, 70), limit, COURSE, racing=True) == 30
    assert kept_until(Progress(3, 70), limit, COURSE, racing=False) is None


@pytest.mark.parametrize("workload", ["digits/fc_16", f"{ROOT / 'examples' / 'spirals.py'}:Spirals"])
def test_racing_gives_the_same_answer(workload: str, tmp_path: Path) -> None:
    settings = ("evaluate.every_examples=350", "recipe.microbatch=64")
    course = {"batch_sizes": (64, 128), "max_epochs": 10.0, "trials": 6, "overrides": settings}
    asked = {"workload": workload, "target": "val/classification_error<0.3", **course}
    for seed in (0, 1):
        raced = complete(study_request(tmp_path / f"raced{seed}", seed=seed, **asked))
        whole = complete(study_request(tmp_path / f"whole{seed}", seed=seed, racing=False, **asked))
        assert answers(raced) == answers(whole)
        assert examples_trained(raced) < examples_trained(whole)


def test_killed_at_twenty_moments_it_ends_as_if_never_disturbed(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    moments = random.Random(seed)
    undisturbed = complete(study_request(tmp_path / "undisturbed"), jobs=1)
    asked = study_request(tmp_path / "disturbed")
    plans = plan_study(asked)
    for plan in plans:
        plan.folder.describe(plan.description())
    for _ in range(20):
        jobs = start_jobs(plans, 2)
        time.sleep(moments.uniform(0.1, 1.2))
        for job in jobs:
            job.kill()  # unless it is done already
        for job in jobs:
            job.join()
        assert {job.exitcode for job in jobs} <= {0, -signal.SIGKILL}
    complete(asked)
    assert published(tmp_path / "disturbed") == published(undisturbed)


def test_the_same_command_three_times_at_once_is_one_study(tmp_path: Path) -> None:
    course = ("--trials", 4, "--target", "val/classification_error<0.3", "--max-epochs", 5)
    arguments = ("study", "digits/fc_16", "--batch-sizes", "32,64", *course, "--jobs", 1, "--out")
    alone = scalewise(*arguments, tmp_path / "alone")
    assert alone.exit_code == 0, alone.output
    commands = [start(*arguments, tmp_path / "shared") for _ in range(3)]
    for ended in map(finish, commands):
        assert ended.exit_code == 0, ended.output
    assert published(tmp_path / "shared") == published(tmp_path / "alone")


def test_what_a_study_is_is_written_once(tmp_path: Path) -> None:
    (plan,) = plan_study(study_request(tmp_path, batch_sizes=[32]))
    file = plan.folder.path / "study.json"
    plan.folder.describe(plan.description())
    before = file.stat().st_ino
    plan.folder.describe(plan.description())
    assert file.stat().st_ino == before
    file.write_text("{")
    plan.folder.describe(plan.description())
    assert plan.folder.description() == plan.description()


def test_more_trials_later_continue_the_study(tmp_path: Path) -> None:
    asked = {"batch_sizes": (64,), "max_epochs": 8.0}
    few = complete(study_request(tmp_path / "study", trials=4, **asked))
    first = published(few)
    more = complete(study_request(tmp_path / "study", trials=7, **asked))
    at_once = complete(study_request(tmp_path / "at_once", trials=7, **asked))
    assert published(more) == published(at_once)
    parameters = {name: json.loads(first[name])["parameters"] for name in first if name.endswith("metadata.json")}
    assert all(json.loads(published(more)[name])["parameters"] == found for name, found in parameters.items())


def test_the_command_writes_the_public_layout_and_says_what_it_found(tmp_path: Path) -> None:
    arguments = ("--trials", 4, "--target", "val/classification_error<0.3", "--max-epochs", 5, "--jobs", 2)
    ended = scalewise("study", "digits/fc_16", "--batch-sizes", "32,64", *arguments, "--out", tmp_path)
    assert ended.exit_code == 0, ended.output
    assert "8 of 8 trials done" in ended.output
    study = tmp_path / "digits" / "fc_16" / "nesterov_momentum" / "64"
    description = json.loads((study / "study.json").read_text())
    assert (description["early_stopping"], description["train_steps"], description["batch_size"]) == (True, 0, 64)
    assert description["parameter_configs"]["momentum"]["scale"] == "REVERSE_LOG_SCALE"
    folders = [entry.name for entry in study.iterdir() if entry.is_dir()]
    assert sorted(folders) == ["0", "1", "2", "3"]
    metadata = json.loads((study / "3" / "metadata.json").read_text())
    assert (metadata["trial_id"], metadata["status"]) == (3, "COMPLETE")
    assert metadata["stopped_by"] in ("race", "steps")
    header = (study / "3" / "measurements.csv").read_text().splitlines()[0]
    assert header.startswith("step,train/cross_entropy_error,train/classification_error,val/")


def test_a_trial_that_diverges_is_kept_and_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "space.yaml").write_text("learning_rate: {type: DISCRETE, feasible_points: [0.05, 1.0e+30]}\n")
    out = complete(study_request(tmp_path / "study", space=tmp_path / "space.yaml", batch_sizes=(32,)))
    found = [json.loads(content) for name, content in published(out).items() if name.endswith("metadata.json")]
    statuses = {one["parameters"]["learning_rate"]: one["status"] for one in found}
    assert statuses == {0.05: "COMPLETE", 1e30: "INFEASIBLE"}


def test_progress_is_read_from_where_a_trial_is_trained(tmp_path: Path) -> None:
    target = Target.parse("val/classification_error<0.5")
    folder = RunFolder(tmp_path)
    assert progress_of(3, folder.metadata(), folder.measurements(), target, 100) == Progress(3)
    for step, value in ((0, 0.9), (10, float("nan")), (20, 0.4), (30, 0.6)):
        folder.write_measurement(step, {"val/classification_error": value})
    folder.write_metadata(run_metadata(status="INFEASIBLE", steps=33))
    found = progress_of(3, folder.metadata(), folder.measurements(), target, 100)
    assert found == Progress(3, 30, 20, diverged=33)


def test_beyond_the_end_of_a_range(tmp_path: Path) -> None:
    """All rates are too small here: the largest is best, and larger ones are better still."""
    (tmp_path / "space.yaml").write_text(
        "learning_rate: {type: DOUBLE, min_value: 0.0001, max_value: 0.002, scale: LOG_SCALE}\n"
    )
    arguments = ("--space", tmp_path / "space.yaml", "--trials", 5, "--target", "val/classification_error<0.5")
    asked = ("study", "digits/fc_16", "--batch-sizes", 32, *arguments, "--max-epochs", 6, "--out", tmp_path / "study")
    ended = group(1, *asked, "--jobs", 2)
    assert ended.exit_code == 0, ended.output
    assert "at the upper end of its range; --widen tries as many trials again beyond it" in ended.output
    before = answers(tmp_path / "study")
    widened = group(1, *asked, "--jobs", 2, "--widen")
    assert widened.exit_code == 0, widened.output
    assert "10 of 10 trials done" in widened.output
    again = group(1, *asked)
    assert (again.exit_code, "trials done" in again.output) == (0, False), again.output
    assert answers(tmp_path / "study")[0]["steps"] < before[0]["steps"]


@pytest.mark.parametrize(
    "space, message",
    [
        ("learning_rate: {type: DOUBLE, min_value: 1, max_value: 0.1, scale: LOG_SCALE}", "learning_rate is empty"),
        ("learning_rate: {type: DOUBLE, min_value: 0, max_value: 0.1, scale: LOG_SCALE}", "min_value above 0"),
        ("momentum: {type: DOUBLE, min_value: 0, max_value: 1, scale: REVERSE_LOG_SCALE}", "max_value below 1"),
        ("momentum: {type: DOUBLE, min_value: 0, max_value: 1, scale: LINEAR_SCALE}", "momentum must stay below 1"),
        ("learning_rte: {type: DISCRETE, feasible_points: [1]}", "did you mean 'learning_rate'?"),
        ("learning_rate: {type: DISCRETE}", "has no feasible_points"),
        ("learning_rate: {type: FLOAT}", "type"),
        ("learning_rate: 3", "learning_rate"),
        ("", "holds no settings to search"),
        ("by_batch_size: {8..64: {}, 32..128: {}}", "8..64 and 32..128 overlap"),
        ("by_batch_size: {some: {}}", "is not like '64' or '8..64'"),
    ],
)
def test_mistakes_in_a_space(space: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "space.yaml").write_text(space)
    ended = study_with("--space", tmp_path / "space.yaml", "--out", tmp_path / "study")
    assert (ended.exit_code, message in ended.output) == (2, True), ended.output
    assert not (tmp_path / "study").exists()


def study_with(*arguments: object, batch_sizes: str = "32", workload: object = "digits/fc_16") -> Finished:
    return group(1, "study", workload, "--batch-sizes", batch_sizes, "--max-epochs", 1, *arguments)


def test_mistakes_in_a_request(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "study")
    (tmp_path / "space.yaml").write_text("momentum: {type: DISCRETE, feasible_points: [0.5]}")
    sgd = ("--optimizer", "sgd", "--space", tmp_path / "space.yaml")
    ended = [
        (study_with(*out, batch_sizes="32,2000"), "larger than the 1,297 training examples"),
        (study_with(*out, batch_sizes="32,32"), "should be different"),
        (study_with(*out, batch_sizes="32,x"), "--batch-sizes"),
        (study_with(*out, "--optimizer", "adam"), "recipe.optimizer"),
        (study_with(*out, *sgd), "which sgd does not have"),
        (study_with(*out, "--max-steps", 3), "not both"),
        (study_with(*out, workload=f"{NETS}:Digits"), "name one with --target"),
        (study_with(*out, "--target", "val/accuracy>0.5"), "unknown metric"),
    ]
    for finished, message in ended:
        assert (finished.exit_code, message in finished.output) == (2, True), finished.output
    assert not (tmp_path / "study").exists()


def test_a_setting_that_a_later_version_adds_does_not_make_it_another_study(tmp_path: Path) -> None:
    asked = study_request(tmp_path, batch_sizes=[32])
    (plan,) = plan_study(asked)
    plan.folder.describe(plan.description())
    (file,) = tmp_path.rglob("study.json")
    content = json.loads(file.read_text())
    del content["settings"]["recipe"]["clip_norm"]
    file.write_text(json.dumps(content))
    assert plan_study(asked) == [plan]
    content["settings"]["recipe"]["weight_decay"] = 0.5
    file.write_text(json.dumps(content))
    with pytest.raises(FolderError, match=r"weight_decay is 0\.5 there"):
        plan_study(asked)


def test_another_study_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    plans = plan_study(study_request(tmp_path))
    plans[0].folder.describe(plans[0].description())
    ended = study_with("--out", tmp_path, "--target", "val/classification_error<0.2")
    assert ended.exit_code == 2
    assert "holds another study: max_steps is" in ended.output


def test_ranges_may_depend_on_the_batch_size(tmp_path: Path) -> None:
    (tmp_path / "space.yaml").write_text(
        "learning_rate: {type: DISCRETE, feasible_points: [0.1]}\n"
        "by_batch_size:\n  64..128:\n    learning_rate: {type: DISCRETE, feasible_points: [0.4]}\n"
    )
    spaces = read_spaces(tmp_path / "space.yaml")
    assert [spaces.at(size)["learning_rate"].feasible_points for size in (63, 64, 128, 129)] == [
        (0.1,),
        (0.4,),
        (0.4,),
        (0.1,),
    ]
