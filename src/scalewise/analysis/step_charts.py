"""The charts of steps against batch size: of one workload with its fit, and of several together."""

from collections.abc import Sequence

import numpy as np

from scalewise.analysis.critical import NoFit
from scalewise.analysis.curve import OVERHEAD, Region, StepsCurve
from scalewise.analysis.outcomes import StepsToTarget
from scalewise.figures.figure import Figure
from scalewise.figures.plot import Axis, Line, Mark, Plot, Rule, Series, Shape, Span
from scalewise.words import counted, interval, number

BATCH_SIZE = Axis("batch size", log=True, powers_of_two=True)
_CURVE_POINTS = 80
_SEEN_BELOW = 1.6
"""Perfect scaling is drawn down to so many times fewer steps than anything else needs."""
_REGION_ENDS = (OVERHEAD - 1, 1 / (OVERHEAD - 1))
"""Where regions end, in critical batch sizes: where steps are 20 % above perfect scaling, and above the fewest."""
_REGION_COLOURS = {Region.PERFECT: 0, Region.DIMINISHING: 5, Region.MAXIMAL: 1}


def steps_figure(curve: StepsCurve) -> Figure | None:
    """Draw steps against batch size: points, perfect scaling, the fit with its band, the regions."""
    reached = [row for row in curve.rows if row.steps is not None]
    if not reached:
        return None
    bounds = [row for row in curve.rows if row.steps is None and row.tried_steps > 0]
    measured = Series("measured", tuple(map(_step_mark, reached)), 0, Line.NONE)
    missed = Series("not reached: more steps than this", tuple(map(_bound_mark, bounds)), 1, Line.NONE, Shape.TRIANGLE)
    series = (_perfect(curve, reached), *_fit_series(curve), measured, missed)
    plot = Plot(
        "Steps to target against batch size",
        BATCH_SIZE,
        Axis("steps to target", log=True),
        series,
        _critical(curve),
        _regions(curve),
        about=about(curve),
    )
    return Figure("steps", _STEPS_CAPTION, plot)


def together_figure(curves: Sequence[StepsCurve]) -> Figure | None:
    """Draw several curves, each against its own first point, so that their shapes can be compared."""
    series = [drawn for colour, curve in enumerate(curves) if (drawn := _relative(curve, colour)).marks]
    if not series:
        return None
    sizes = [mark.x for one in series for mark in one.marks]
    ideal = (Mark(min(sizes), 1), Mark(max(sizes), min(sizes) / max(sizes)))
    name = "perfect scaling"
    series.append(Series(name, ideal, None, Line.DASHED, Shape.NONE, silent=True, label=name))
    y = Axis("steps to target, times those of the smallest batch", log=True)
    caption = "Every curve begins at 1: what counts is how far it follows perfect scaling."
    plot = Plot("Steps to target against batch size, together", BATCH_SIZE, y, tuple(series))
    return Figure("steps_together", caption, plot)


def about(curve: StepsCurve) -> str:
    """Say what a chart of a curve shows."""
    return curve.name if curve.target is None else f"{curve.name}: {curve.target}"


_STEPS_CAPTION = (
    "Points are the best trial at each batch size, with the interval of its steps; the band is what the interval of "
    "the critical batch size allows."
)


def _perfect(curve: StepsCurve, reached: Sequence[StepsToTarget]) -> Series:
    """Return the line of equal examples, as far down as it can be seen beside the others."""
    first, last = reached[0].batch_size, reached[-1].batch_size
    lowest = min(row.point.steps for row in curve.rows if row.point.steps > 0) / _SEEN_BELOW
    end = max(first, min(last, curve.fewest_examples / lowest))
    marks = tuple(Mark(batch, curve.fewest_examples / batch) for batch in (first, end))
    return Series("perfect scaling", marks, None, Line.DASHED, Shape.NONE, silent=True)


def _step_mark(row: StepsToTarget) -> Mark:
    assert row.steps is not None
    spread = "" if row.high in (None, row.steps) else f" ({interval(number(row.low), number(row.high))})"
    trials = f"{row.reached} of {counted(row.trials, 'trial')} reached the target"
    return Mark(
        row.batch_size,
        row.steps,
        f"batch {row.batch_size:,}\n{number(row.steps)} steps{spread}\n{trials}",
        row.low,
        row.high,
    )


def _bound_mark(row: StepsToTarget) -> Mark:
    return Mark(
        row.batch_size, row.tried_steps, f"batch {row.batch_size:,}\nnot within {number(row.tried_steps)} steps"
    )


def _fit_series(curve: StepsCurve) -> list[Series]:
    fit = curve.fit
    if isinstance(fit, NoFit):
        return []
    sizes = [row.batch_size for row in curve.rows]
    marks = [
        Mark(float(batch), fit.steps(float(batch))) for batch in np.geomspace(min(sizes), max(sizes), _CURVE_POINTS)
    ]
    band = []
    for mark in marks:
        ends = [mark.y, *(s_min * (1 + critical / mark.x) for critical, s_min in fit.band)]
        band.append((mark.x, min(ends), max(ends)))
    name = "fit: S_min (1 + B_crit/B)"
    return [Series(name, tuple(marks), 0, Line.SOLID, Shape.NONE, silent=True, band=tuple(band))]


def _critical(curve: StepsCurve) -> tuple[Rule, ...]:
    """Return the critical batch size, where it is among those that were tried."""
    fit = curve.reliable_fit
    sizes = [row.batch_size for row in curve.rows]
    if fit is None or not min(sizes) <= fit.value <= max(sizes):
        return ()
    return (Rule("x", fit.value, f"B_crit {fit.value:,.0f}", 0),)


def _regions(curve: StepsCurve) -> tuple[Span, ...]:
    fit = curve.reliable_fit
    if fit is None:
        return ()
    first, last = (share * fit.value for share in _REGION_ENDS)
    ends = zip(Region, (None, first, last), (first, last, None), strict=True)
    return tuple(Span(start, end, region, _REGION_COLOURS[region]) for region, start, end in ends)


def _relative(curve: StepsCurve, colour: int) -> Series:
    points = [(row.batch_size, row.steps) for row in curve.rows if row.steps is not None]
    marks = [Mark(batch, steps / points[0][1], f"batch {batch:,}\n{number(steps)} steps") for batch, steps in points]
    return Series(curve.name, tuple(marks), colour, label=curve.name)
