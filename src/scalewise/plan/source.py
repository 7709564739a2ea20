"""Where the steps come from: a steps file, or the best trials of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalewise.analysis.outcomes import StepsToTarget
from scalewise.analysis.steps_file import read_steps
from scalewise.errors import ConfigError
from scalewise.plan.statistics import Statistic, Statistics, statistics
from scalewise.record.study_folder import find_studies


@dataclass(frozen=True)
class StepsSource:
    """What is known of the steps, and the settings that they were measured with."""

    statistics: Statistics
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What all trials of a study share; empty where only steps are known."""
    trials: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """What the best trial of each batch size was trained with, its seed included."""


def steps_from_file(file: Path) -> StepsSource:
    """Take every row of a steps file for a run."""
    return StepsSource(statistics(read_steps(file)))


def steps_from_study(folder: Path, target: str | None) -> StepsSource:
    """Take the best trial of each batch size; it ran once, so how reliable it is nobody knows."""
    from scalewise.analysis.analyze import workloads_in  # takes a moment, which a steps file need not wait for

    found = workloads_in(folder, [] if target is None else [target], skipped=[])
    if len(found) > 1:
        names = ", ".join(workload.curve.name for workload in found)
        raise ConfigError(f"{folder} has several studies ({names}): name the folder of one")
    curve = found[0].curve
    reached = [row for row in curve.rows if row.steps is not None]
    if not reached:
        raise ConfigError(f"no trial in {folder} reached {curve.target}: there is nothing to plan with")
    settings = dict(next(iter(find_studies(folder))).description().get("settings", {}))
    settings["stop"] = {**settings.get("stop", {}), "target": curve.target, "steps": None, "epochs": None}
    trials = {row.batch_size: {**row.parameters, "seed": row.trial_id} for row in reached}
    return StepsSource(Statistics([_statistic(row) for row in reached], curve.fit), settings, trials)


def _statistic(row: StepsToTarget) -> Statistic:
    assert row.steps is not None
    rate = row.parameters.get("learning_rate")
    return Statistic(row.batch_size, None if rate is None else float(rate), row.steps, row.steps, 1.0, runs=1)
