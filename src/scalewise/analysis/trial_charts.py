"""The charts of a study's trials: the best learning rates, all settings that were tried, the best within a budget."""

from collections.abc import Sequence

import numpy as np

from scalewise.analysis.outcomes import StepsToTarget, effective_learning_rate
from scalewise.analysis.scatter import Fate, ScatterPoint
from scalewise.analysis.step_charts import BATCH_SIZE
from scalewise.analysis.workload_findings import WorkloadFindings
from scalewise.figures.figure import Figure
from scalewise.figures.plot import Axis, Line, Mark, Panels, Plot, Series, Shape
from scalewise.record.results.analysis import BudgetBest
from scalewise.words import number

_FATES = {Fate.NO_GOAL: (None, Shape.DOT), Fate.INFEASIBLE: (1, Shape.TRIANGLE), Fate.GOAL: (0, Shape.DOT)}
_FATE_NAMES = {Fate.NO_GOAL: "did not reach it"}
_BEST_COLOUR = 5


def learning_rate_figure(workload: WorkloadFindings) -> Figure | None:
    """Draw the best trials' effective learning rates, with the lines of both scaling rules."""
    rows = [row for row in workload.curve.rows if row.steps is not None]
    marks = [_rate_mark(row, rate) for row in rows if (rate := effective_learning_rate(row.parameters))]
    if len(marks) < 2:
        return None
    rules = (("linear scaling", 1.0, Line.DASHED), ("square-root scaling", 0.5, Line.DOTTED))
    series = [_scaling_rule(marks, name, power, line) for name, power, line in rules]
    y = Axis("effective learning rate: rate / (1 - momentum)", log=True)
    plot = Plot(
        "Effective learning rate of the best trials",
        BATCH_SIZE,
        y,
        (*series, Series("best trial", tuple(marks), 0)),
        about=workload.curve.name,
    )
    caption = "The best trial's learning rate / (1 - momentum), beside the two common scaling rules."
    return Figure("learning_rate", caption, plot)


def scatter_figure(workload: WorkloadFindings) -> Figure | None:
    """Draw all trials by learning rate and momentum, a panel for each batch size."""
    every = [point for points in workload.scatter.values() for point in points]
    if not any(point.learning_rate > 0 and point.one_minus_momentum > 0 for point in every):
        return None
    x = _shared("learning rate", [point.learning_rate for point in every])
    y = _shared("1 - momentum", [point.one_minus_momentum for point in every])
    plots = [
        Plot(f"batch {batch:,}", x, y, tuple(_fates(batch, points)))
        for batch, points in sorted(workload.scatter.items())
    ]
    caption = "Every trial by its learning rate and momentum, and how it ended; a star is the best at its batch size."
    return Figure("scatter", caption, Panels("All trials", tuple(plots), workload.curve.name))


def budgets_figure(workload: WorkloadFindings) -> Figure | None:
    """Draw the best metric within each budget."""
    names = dict.fromkeys(best.budget for best in workload.budgets)
    series = [_budget_series(workload.budgets, name, colour) for colour, name in enumerate(names)]
    if not any(one.marks for one in series):
        return None
    metric = (workload.curve.target or "metric").partition("<")[0].partition(">")[0]
    plot = Plot(
        f"Best {metric} within a budget", BATCH_SIZE, Axis(f"best {metric}"), tuple(series), about=workload.curve.name
    )
    return Figure("budgets", "The best measurement of any trial within each budget.", plot)


def _rate_mark(row: StepsToTarget, rate: float) -> Mark:
    settings = ", ".join(f"{name} {_setting(value)}" for name, value in row.parameters.items())
    return Mark(row.batch_size, rate, f"batch {row.batch_size:,}\neffective rate {number(rate)}\n{settings}")


def _setting(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _scaling_rule(marks: Sequence[Mark], name: str, power: float, line: Line) -> Series:
    """Return a rule's line where it is nearest to all points: slopes are compared, not the luck of the first point."""
    offset = float(np.mean([np.log(mark.y) - power * np.log(mark.x) for mark in marks]))
    drawn = tuple(Mark(mark.x, float(np.exp(offset)) * mark.x**power) for mark in marks)
    return Series(name, drawn, None, line, Shape.NONE, silent=True)


def _shared(label: str, values: Sequence[float]) -> Axis:
    """Return a logarithmic axis that goes as far in every panel."""
    positive = [value for value in values if value > 0]
    return Axis(label, log=True, shows=(min(positive), max(positive)))


def _fates(batch: int, points: Sequence[ScatterPoint]) -> list[Series]:
    """Return a series for every fate, even if no trial of this batch size had it, and one for the best trial."""
    series = [
        Series(
            _FATE_NAMES.get(fate, fate),
            tuple(_trial_mark(batch, point) for point in points if point.fate is fate and not point.best),
            colour,
            Line.NONE,
            shape,
            pale=fate is Fate.NO_GOAL,
        )
        for fate, (colour, shape) in _FATES.items()
    ]
    best = tuple(_trial_mark(batch, point) for point in points if point.best)
    return [*series, Series("best", best, _BEST_COLOUR, Line.NONE, Shape.STAR)]


def _trial_mark(batch: int, point: ScatterPoint) -> Mark:
    momentum = number(1 - point.one_minus_momentum)
    says = f"batch {batch:,}\nlearning rate {number(point.learning_rate)}\nmomentum {momentum}"
    return Mark(point.learning_rate, point.one_minus_momentum, says)


def _budget_series(budgets: Sequence[BudgetBest], name: str, colour: int) -> Series:
    marks = [
        Mark(best.batch_size, best.value, f"batch {best.batch_size:,}\n{number(best.value)}")
        for best in budgets
        if best.budget == name and best.value is not None
    ]
    return Series(f"within {name}", tuple(marks), colour)
