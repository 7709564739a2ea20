"""Where the steps come from: a steps file, or the best trials of a study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalewise.analysis.outcomes import Outcome, StepsToTarget
from scalewise.errors import ConfigError
from scalewise.plan.statistics import Statistic, Statistics, statistic_of, statistics
from scalewise.record.steps import StepsRow, read_steps
from scalewise.record.study_folder import StudyFolder, find_studies

_TELLING = 2
"""From this many fresh runs on, they are used instead of the trial that won the study."""


@dataclass(frozen=True)
class Unstable:
    """A setting that won its batch size, and mostly failed when it was trained again."""

    global_batch: int
    learning_rate: float | None
    steps: float
    """What it took when it won."""
    runs: int
    reached: int


class NothingHeld(ConfigError):  # noqa: N818 - a finding about a study; a mistake only if somebody plans with it
    """No setting of a study reached the target, or none did when it was trained again."""

    def __init__(self, message: str, unstable: Sequence[Unstable]) -> None:
        super().__init__(message)
        self.unstable = unstable


@dataclass(frozen=True)
class StepsSource:
    """What is known about the steps, and the settings that they were measured with."""

    statistics: Statistics
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What all trials of a study share; empty if only steps are known."""
    trials: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """What the chosen trial of each batch size was trained with, its seed included."""
    limits: Mapping[int, int] = field(default_factory=dict)
    """The step at which every trial of a batch size ended at the latest."""
    unstable: Sequence[Unstable] = ()
    """What was not chosen, because fresh seeds mostly failed."""


def steps_from_file(file: Path) -> StepsSource:
    """Read a steps file; every row is a run."""
    return StepsSource(statistics(read_steps(file)))


def steps_from_study(folder: Path, target: str | None) -> StepsSource:
    """Take the best settings of each batch size, with the steps of their fresh runs or else of the trial that won."""
    from scalewise.analysis.analyze import workloads_in  # takes a moment, and a steps file does not need it

    found = workloads_in(folder, [] if target is None else [target], skipped=[])
    if len(found) > 1:
        names = ", ".join(workload.curve.name for workload in found)
        raise ConfigError(f"{folder} has several studies ({names}): name the folder of one")
    curve = found[0].curve
    studies = {study.description().batch_size: study for study in find_studies(folder)}
    known: list[Statistic] = []
    trials: dict[int, dict[str, Any]] = {}
    failed: list[Unstable] = []
    for row in curve.rows:
        chosen = _chosen(row, studies[row.batch_size], str(curve.target), failed)
        if chosen is not None:
            outcome, statistic = chosen
            known.append(statistic)
            trials[row.batch_size] = {**outcome.parameters, "seed": outcome.trial_id}
    if not known:
        again = " again with fresh seeds" if failed else ""
        raise NothingHeld(
            f"no setting in {folder} reached {curve.target}{again}: there is nothing to plan with", failed
        )
    descriptions = {size: study.description() for size, study in studies.items()}
    shared = next(iter(descriptions.values())).settings
    settings: dict[str, Any] = {} if shared is None else shared.model_dump(mode="json")
    settings["stop"] = {**settings.get("stop", {}), "target": curve.target}
    limits = {size: one.max_steps for size, one in descriptions.items() if one.max_steps is not None}
    luckiest_of = max(row.trials for row in curve.rows)
    return StepsSource(Statistics(known, curve.fit, luckiest_of), settings, trials, limits, failed)


def _chosen(
    row: StepsToTarget, study: StudyFolder, target: str, failed: list[Unstable]
) -> tuple[Outcome, Statistic] | None:
    """Return the best trial of a batch size, but none whose settings mostly failed when they were trained again."""
    from scalewise.record.confirmations import Confirmations  # takes a moment, and a steps file does not need it

    confirmations = Confirmations.of(study)
    for outcome in row.successful:
        assert outcome.steps is not None
        rate = _rate(outcome)
        fresh = confirmations.of_trial(outcome.trial_id, target)
        reached = sum(run.reached for run in fresh)
        if len(fresh) < _TELLING:
            lucky = Statistic(row.batch_size, rate, outcome.steps, outcome.steps, None, runs=1, best_of=row.trials)
            return outcome, lucky
        if 2 * reached > len(fresh):
            runs = [StepsRow(row.batch_size, run.steps, run.reached, rate, ended=True) for run in fresh]
            typical = statistic_of(runs)
            assert typical is not None
            return outcome, typical
        failed.append(Unstable(row.batch_size, rate, outcome.steps, len(fresh), reached))
    return None


def _rate(outcome: Outcome) -> float | None:
    rate = outcome.parameters.get("learning_rate")
    return None if rate is None else float(rate)
