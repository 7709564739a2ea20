"""The charts of a study: steps and learning rates against batch size, and all trials."""

from collections.abc import Callable, Sequence

import numpy as np

from scalewise.analysis.charts import figures as analysis_figures
from scalewise.analysis.curve import Curve
from scalewise.analysis.findings import Workload
from scalewise.analysis.outcomes import StepsToTarget, effective_learning_rate
from scalewise.analysis.scatter import Fate
from scalewise.report.chart import Axis, Line, Mark, Plot, Rule, Series, Shape
from scalewise.report.section import Figure
from scalewise.report.values import as_text
from scalewise.report.words import counted, interval, number

_CURVE_POINTS = 80


def study_figures(workload: Workload) -> list[Figure]:
    """Return whatever one workload has something to draw for."""
    drawings = analysis_figures(workload)
    plots: dict[str, Callable[[], Plot]] = {
        "steps": lambda: _steps_plot(workload.curve),
        "learning_rate": lambda: _rate_plot(workload.curve),
        "scatter": lambda: _scatter_plot(workload),
    }
    return [Figure(name, _CAPTIONS[name], plots[name](), drawings[name]) for name in plots if name in drawings]


_CAPTIONS = {
    "steps": "Points are the best trial at each batch size, with the interval of its steps; the band is what the "
    "interval of the critical batch size allows.",
    "learning_rate": "The best trial's learning rate / (1 - momentum), beside what the two common scaling rules say.",
    "scatter": "Every trial by its learning rate and momentum, and what became of it.",
}


def _steps_plot(curve: Curve) -> Plot:
    """Return steps against batch size, with perfect scaling and the fit."""
    reached = [row for row in curve.rows if row.steps is not None]
    perfect = tuple(Mark(row.batch_size, curve.fewest_examples / row.batch_size) for row in reached)
    series = [Series("perfect scaling", perfect, None, Line.DASHED, Shape.NONE, silent=True), *_fit_series(curve)]
    series.append(Series("measured", tuple(map(_step_mark, reached)), 0, Line.NONE))
    if bounds := [row for row in curve.rows if row.steps is None and row.tried_steps > 0]:
        marks = [
            Mark(row.batch_size, row.tried_steps, f"batch {row.batch_size:,}\nnot within {row.tried_steps:,.6g} steps")
            for row in bounds
        ]
        series.append(Series("not reached: more steps than this", tuple(marks), 1, Line.NONE, Shape.TRIANGLE))
    x = Axis("batch size", log=True, powers_of_two=True)
    return Plot(
        "Steps to target against batch size", x, Axis("steps to target", log=True), tuple(series), _critical(curve)
    )


def _step_mark(row: StepsToTarget) -> Mark:
    assert row.steps is not None
    arrived = f"{row.reached} of {counted(row.trials, 'trial')} arrived"
    says = f"batch {row.batch_size:,}\n{number(row.steps)} steps{_until(row)}\n{arrived}"
    return Mark(row.batch_size, row.steps, says, row.low, row.high)


def _until(row: StepsToTarget) -> str:
    return "" if row.high is None or row.high == row.steps else f" ({interval(number(row.low), number(row.high))})"


def _fit_series(curve: Curve) -> list[Series]:
    fit = curve.fit
    if fit.value is None:
        return []
    sizes = [row.batch_size for row in curve.rows]
    batches = np.geomspace(min(sizes), max(sizes), _CURVE_POINTS)
    marks = tuple(Mark(float(batch), fit.steps(float(batch))) for batch in batches)
    band = []
    for mark in marks:
        ends = [mark.y, *(s_min * (1 + critical / mark.x) for critical, s_min in fit.band)]
        band.append((mark.x, min(ends), max(ends)))
    name = "fit: S_min (1 + B_crit/B)"
    return [Series(name, marks, 0, Line.SOLID, Shape.NONE, silent=True, band=tuple(band))]


def _critical(curve: Curve) -> tuple[Rule, ...]:
    fit = curve.fit
    sizes = [row.batch_size for row in curve.rows]
    if fit.value is None or not fit.form_fits or not min(sizes) <= fit.value <= max(sizes):
        return ()
    return (Rule("x", fit.value, f"B_crit {fit.value:,.0f}", 0),)


def _rate_plot(curve: Curve) -> Plot:
    found = [
        (row, rate)
        for row in curve.rows
        if row.steps is not None and (rate := effective_learning_rate(row.parameters)) is not None
    ]
    marks = [
        Mark(
            row.batch_size,
            rate,
            f"batch {row.batch_size:,}\neffective rate {rate:.3g}\n{as_text(dict(row.parameters))}",
        )
        for row, rate in found
    ]
    rules = [
        _scaling_rule(marks, name, power, line)
        for name, power, line in (("linear scaling", 1.0, Line.DASHED), ("square-root scaling", 0.5, Line.DOTTED))
    ]
    series = [*rules, Series("best trial", tuple(marks), 0)]
    x = Axis("batch size", log=True, powers_of_two=True)
    y = Axis("effective learning rate", log=True)
    return Plot("Effective learning rate of the best trials", x, y, tuple(series))


def _scaling_rule(marks: Sequence[Mark], name: str, power: float, line: Line) -> Series:
    """Return a rule's line where it is nearest to all points, so that slopes are compared."""
    if not marks:
        return Series(name, ())
    offset = float(np.mean([np.log(mark.y) - power * np.log(mark.x) for mark in marks if mark.y > 0]))
    drawn = tuple(Mark(mark.x, float(np.exp(offset)) * mark.x**power) for mark in marks)
    return Series(name, drawn, None, line, Shape.NONE, silent=True)


def _scatter_plot(workload: Workload) -> Plot:
    looks = {Fate.NO_GOAL: (None, Shape.DOT), Fate.INFEASIBLE: (1, Shape.TRIANGLE), Fate.GOAL: (0, Shape.DOT)}
    names = {Fate.NO_GOAL: "did not reach it"}
    series = []
    for fate, (colour, shape) in looks.items():
        marks = [
            Mark(
                point.learning_rate,
                point.one_minus_momentum,
                f"batch {batch:,}{', its best trial' * point.best}\n"
                f"learning rate {point.learning_rate:.3g}\nmomentum {1 - point.one_minus_momentum:.4g}",
            )
            for batch, points in sorted(workload.scatter.items())
            for point in points
            if point.fate is fate
        ]
        series.append(Series(names.get(fate, fate), tuple(marks), colour, Line.NONE, shape, pale=fate is Fate.NO_GOAL))
    x, y = Axis("learning rate", log=True), Axis("1 - momentum", log=True)
    return Plot("All trials", x, y, tuple(series))
