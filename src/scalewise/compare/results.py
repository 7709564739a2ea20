"""What came out of a comparison: one row per condition."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalewise.config import Target
from scalewise.errors import FolderError
from scalewise.record.folder import RunFolder
from scalewise.record.results.compare import ComparedRecipe, Condition, Summary
from scalewise.record.results.run import MetricFacts
from scalewise.record.status import Status


def trial_folder(out: Path, condition: Condition, seed: int) -> RunFolder:
    """Say where a condition is trained with a seed."""
    return RunFolder(out / condition.name.replace("/", "_") / str(seed))


@dataclass(frozen=True)
class Quality:
    """The metric that recipes are compared by, and how it is shown."""

    metric: str
    below: bool
    """Whether lower is better."""
    complement: str = ""
    """What is shown instead of the metric, in percent: 1 - value, such as accuracy."""

    @property
    def label(self) -> str:
        """What the shown values are."""
        return f"validation {self.complement}, %" if self.complement else self.metric

    @property
    def higher_is_better(self) -> bool:
        """Whether higher is better among the shown values."""
        return self.below == bool(self.complement)

    def shown(self, value: float) -> float:
        """Turn a measured value into a shown one."""
        return 100 * (1 - value) if self.complement else value

    def best(self, values: Sequence[float]) -> float:
        """Return the best of some shown values."""
        return max(values) if self.higher_is_better else min(values)


def quality_of(target: str | None, metrics: Sequence[MetricFacts]) -> Quality:
    """Take the metric of the workload's own target, or else the workload's first metric, on val."""
    if target is None:
        return Quality(f"val/{metrics[0].name}", metrics[0].lower_is_better, metrics[0].complement)
    parsed = Target.parse(target)
    name = parsed.metric.rpartition("/")[2]
    complement = next((metric.complement for metric in metrics if metric.name == name), "")
    return Quality(parsed.metric, parsed.below, complement)


@dataclass(frozen=True)
class Curve:
    """How one trial went."""

    epochs: list[float]
    values: list[float]
    diverged: bool
    examples_per_second: float | None


def read_curve(run: RunFolder, global_batch: int, quality: Quality) -> Curve:
    """Read a trial that has ended."""
    metadata, rows = run.metadata(), run.measurements()
    if metadata is None:
        raise FolderError(f"{run.path} holds a run that has recorded nothing yet")
    if rows and quality.metric not in rows[0][1]:
        raise FolderError(f"{run.path} has no {quality.metric!r}, which the recipes are compared by")
    per_epoch = metadata.train_examples / global_batch
    return Curve(
        [step / per_epoch for step, _ in rows],
        [quality.shown(metrics[quality.metric]) for _, metrics in rows],
        metadata.status is Status.INFEASIBLE,
        metadata.examples_per_second,
    )


def summary(values: Sequence[float]) -> Summary | None:
    """Summarise, where there is anything to summarise.

    >>> str(summary([70.0, 72.0])), str(summary([71.25])), summary([])
    ('71 (70 to 72)', '71.25', None)
    """
    return _summary(values) if values else None


def _summary(values: Sequence[float]) -> Summary:
    return Summary(mean=statistics.fmean(values), lowest=min(values), highest=max(values))


def over_seeds(curves: Sequence[Curve]) -> list[tuple[float, Summary]]:
    """Summarise the trials of one condition at every epoch, as far as all of them went."""
    length = min(len(curve.values) for curve in curves)
    values = zip(*(curve.values[:length] for curve in curves), strict=True)
    return [(epoch, _summary(seeds)) for epoch, seeds in zip(curves[0].epochs[:length], values, strict=True)]


def whole(curves: Mapping[Condition, Sequence[Curve]]) -> dict[Condition, list[Curve]]:
    """Return the conditions that have trials which did not diverge, with those."""
    kept = {condition: [curve for curve in found if not curve.diverged] for condition, found in curves.items()}
    return {condition: found for condition, found in kept.items() if found}


def make_row(condition: Condition, curves: Sequence[Curve], quality: Quality) -> ComparedRecipe:
    """Summarise the trials of one condition; a diverged one has no final value."""
    whole = [curve for curve in curves if not curve.diverged]
    speeds = [curve.examples_per_second for curve in curves if curve.examples_per_second]
    return ComparedRecipe(
        **dict(condition),
        final=summary([curve.values[-1] for curve in whole]),
        best=summary([quality.best(curve.values) for curve in whole]),
        trials=len(curves),
        diverged=len(curves) - len(whole),
        examples_per_second=round(statistics.median(speeds), 1) if speeds else None,
    )
