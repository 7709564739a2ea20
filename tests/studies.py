"""Studies for tests: small ones that real jobs work on, and folders in the public layout that no job has written."""

import json
import multiprocessing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scalewise.requests import StudyRequest
from scalewise.study.batch_plan import BatchPlan, plan_study
from scalewise.study.job import Job

MEASUREMENTS_HEADER = "step,train/classification_error,val/classification_error"
"""The columns of the measurements that `write_study` writes."""

_forked = multiprocessing.get_context("forkserver")


def study_request(out: Path, **changes: Any) -> StudyRequest:
    """Ask for a study of two batch sizes that takes seconds, or for one that differs from it."""
    settings: dict[str, Any] = {
        "workload": "digits/fc_16",
        "batch_sizes": (32, 128),
        "trials": 6,
        "target": "val/classification_error<0.1",
        "max_epochs": 20.0,
        "jobs": 2,
        "out": out,
    }
    return StudyRequest(**{**settings, **changes})


def start_jobs(plans: Sequence[BatchPlan], count: int) -> list[Any]:
    """Start processes that work on a study."""
    jobs = [_forked.Process(target=_work, args=(plans,)) for _ in range(count)]
    for job in jobs:
        job.start()
    return jobs


def _work(plans: Sequence[BatchPlan]) -> None:
    raise SystemExit(int(Job(plans).work()))


def complete(asked: StudyRequest, jobs: int = 2) -> Path:
    """Work on a study to its end."""
    plans = plan_study(asked)
    for plan in plans:
        plan.folder.describe(plan.description())
    for job in start_jobs(plans, jobs):
        job.join(120)
        assert job.exitcode == 0
    return asked.out


def write_study(
    root: Path, batch_size: int, trials: Mapping[int, Sequence[str]], status: Mapping[int, str] | None = None
) -> Path:
    """Write a study in the public layout, each trial as lines of its measurements."""
    folder = root / "mnist" / "fc_64" / "sgd" / str(batch_size)
    folder.mkdir(parents=True)
    description = {"batch_size": batch_size, "dataset": "mnist", "model": "fc_64", "optimizer": "sgd"}
    rest = {"early_stopping": False, "train_steps": 100, "parameter_configs": {}}
    (folder / "study.json").write_text(json.dumps({**description, **rest}))
    for trial_id, lines in trials.items():
        (folder / str(trial_id)).mkdir()
        parameters = {"learning_rate": 0.1 * (trial_id + 1), "momentum": 0.5}
        metadata = {
            "trial_id": trial_id,
            "status": (status or {}).get(trial_id, "COMPLETE"),
            "steps": 100,
            "parameters": parameters,
        }
        (folder / str(trial_id) / "metadata.json").write_text(json.dumps(metadata))
        (folder / str(trial_id) / "measurements.csv").write_text("\n".join([MEASUREMENTS_HEADER, *lines, ""]))
    return folder
