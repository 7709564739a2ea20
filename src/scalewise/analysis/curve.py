"""What steps against batch size show: how far scaling is perfect, where it fades, and where it ends."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from scalewise.analysis.critical import CriticalBatch, NoFit, fit_critical_batch
from scalewise.analysis.outcomes import StepsToTarget, effective_learning_rate
from scalewise.record.results.analysis import (
    AnalysedWorkload,
    BatchSteps,
    BudgetBest,
    CriticalBatchFit,
    NoCriticalBatchFit,
    Overhead,
)

OVERHEAD = 1.2
"""Steps above perfect scaling, or above the fewest, by this factor are where a region ends."""


class Region(StrEnum):
    """What a larger batch buys."""

    PERFECT = "perfect scaling"
    DIMINISHING = "diminishing returns"
    MAXIMAL = "maximal parallelism"


@dataclass(frozen=True)
class StepsCurve:
    """Steps to target against batch size, for one workload, optimizer and target."""

    name: str
    target: str | None
    rows: list[StepsToTarget]
    fit: CriticalBatch | NoFit
    overhead: Overhead

    @property
    def reliable_fit(self) -> CriticalBatch | None:
        """The fit, where there is one and its form fits the points."""
        return _reliable(self.fit)

    @property
    def fewest_examples(self) -> float:
        """The fewest examples that any batch size needs; with perfect scaling all of them would need as few."""
        return min(row.batch_size * row.steps for row in self.rows if row.steps is not None)

    def region(self, row: StepsToTarget) -> Region | None:
        """Say what a larger batch than this one buys; None where the target was not reached."""
        if row.steps is None:
            return None
        if (fit := self.reliable_fit) is not None:
            ratio = row.batch_size / fit.value
            return _region(above_perfect=1 + ratio, above_fewest=1 + 1 / ratio)
        above_perfect = row.batch_size * row.steps / self.fewest_examples
        fewest = min(other.steps for other in self.rows if other.steps is not None)
        return _region(above_perfect, above_fewest=row.steps / fewest)

    def analysed(self, budgets: Sequence[BudgetBest] = ()) -> AnalysedWorkload:
        """Return the value that is written."""
        return AnalysedWorkload(
            workload=self.name,
            target=self.target,
            steps_to_target=tuple(_written(row, self.region(row)) for row in self.rows if row.steps is not None),
            not_reached=tuple(_written(row, None) for row in self.rows if row.steps is None),
            critical_batch=_written_fit(self.fit),
            overhead_20_percent=self.overhead,
            best_within_budget=tuple(budgets),
        )


def _region(above_perfect: float, above_fewest: float) -> Region:
    if above_perfect <= OVERHEAD:
        return Region.PERFECT
    return Region.MAXIMAL if above_fewest <= OVERHEAD else Region.DIMINISHING


def _reliable(fit: CriticalBatch | NoFit) -> CriticalBatch | None:
    return fit if isinstance(fit, CriticalBatch) and fit.form_fits else None


def _written_fit(fit: CriticalBatch | NoFit) -> CriticalBatchFit | NoCriticalBatchFit:
    if isinstance(fit, NoFit):
        return NoCriticalBatchFit(None, fit.low, fit.high, None, fit.form_fits, fit.error, fit.exponent, fit.says)
    return CriticalBatchFit(fit.value, fit.low, fit.high, fit.s_min, fit.form_fits, fit.error, fit.exponent, fit.says)


def _written(row: StepsToTarget, region: Region | None) -> BatchSteps:
    return BatchSteps(
        batch_size=row.batch_size,
        steps=row.steps,
        trial_id=row.trial_id,
        low=row.low,
        high=row.high,
        trials=row.trials,
        reached=row.reached,
        infeasible=row.infeasible,
        tried_steps=row.tried_steps,
        parameters=dict(row.parameters),
        effective_learning_rate=effective_learning_rate(row.parameters),
        region=region,
    )


def make_curve(name: str, target: str | None, rows: Sequence[StepsToTarget]) -> StepsCurve:
    """Fit the curve, and find where its regions end."""
    ordered = sorted(rows, key=lambda row: row.batch_size)
    fit = fit_critical_batch([row.point for row in ordered if row.tried_steps > 0])
    return StepsCurve(name, target, ordered, fit, _overhead(fit, ordered))


def _overhead(fit: CriticalBatch | NoFit, rows: Sequence[StepsToTarget]) -> Overhead:
    if (reliable := _reliable(fit)) is not None:
        return Overhead(*reliable.overhead_20_percent, by="fit")
    measured = [(row.batch_size, row.steps) for row in rows if row.steps is not None]
    return Overhead(overhead_between(measured), None, None, by="points")


def overhead_between(measured: Sequence[tuple[float, float]]) -> float | None:
    """Return where the line through measured points is 20 % above the fewest examples.

    >>> overhead_between([(8, 1000), (16, 500), (32, 500)]), overhead_between([(4, 2100), (8, 1000), (16, 500)])
    (19.2, None)
    """
    examples = [batch * steps for batch, steps in measured]
    fewest = examples.index(min(examples)) if examples else 0
    previous_batch, previous_excess = measured[fewest][0] if measured else 1.0, 1.0
    for batch, steps in measured[fewest + 1 :]:
        excess = steps * batch / examples[fewest]
        if excess > OVERHEAD:
            share = math.log(OVERHEAD / previous_excess) / math.log(excess / previous_excess)
            return float(f"{previous_batch * (batch / previous_batch) ** share:.3g}")
        previous_batch, previous_excess = batch, excess
    return None
