"""The pictures of a plan: time against cost, and what more workers bring."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalewise.charts import COLOURS, log_axis, plain_axes, save, unit_of_time
from scalewise.plan.candidates import Candidate
from scalewise.plan.scaling import Scaling

_PALE = "#C9C9C9"
_MARGINS = {"left": 0.1, "right": 0.98, "bottom": 0.12, "top": 0.97}
"""Fixed: finding them would draw every picture twice."""


def draw_plan(file: Path, found: Sequence[Candidate], best: Sequence[Candidate], currency: str | None) -> None:
    """Draw all candidates by time and cost: the frontier in colour, what it beats pale; nothing without prices."""
    priced = [one for one in found if one.cost is not None]
    if not priced:
        return
    figure = Figure(figsize=(8.5, 5.2))
    axes = figure.subplots(gridspec_kw={**_MARGINS, "top": 0.93})
    plain_axes(axes)
    unit, factor = unit_of_time([one.hours for one in priced])
    for predicted in (False, True):
        chosen = [one for one in priced if one.predicted == predicted]
        axes.plot(
            [factor * one.hours for one in chosen],
            [one.cost or 0.0 for one in chosen],
            **_marks(_PALE, predicted),
            label=f"{'predicted' if predicted else 'measured'}, dominated" if chosen else None,
        )
    hours, costs = [factor * one.hours for one in best], [one.cost or 0.0 for one in best]
    axes.plot(hours, costs, color=COLOURS[0], linewidth=1.6, drawstyle="steps-post", zorder=3, label="frontier")
    for one in best:
        axes.plot([factor * one.hours], [one.cost or 0.0], **_marks(COLOURS[0], one.predicted), zorder=4)
    _label_ends(axes, best, factor)
    log_axis(axes.xaxis, [factor * one.hours for one in priced])
    log_axis(axes.yaxis, [one.cost or 0.0 for one in priced])
    axes.set_xlabel(f"expected time to target, {unit}")
    axes.set_ylabel(f"expected cost to target{f', {currency}' if currency else ''}")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)  # above: points may be anywhere
    save(figure, file)


def _label_ends(axes: Axes, best: Sequence[Candidate], factor: float) -> None:
    """Name the fastest and the cheapest."""
    ends = {id(best[0]): ("fastest", best[0]), id(best[-1]): ("cheapest", best[-1])}
    if best[0] is best[-1]:
        ends = {id(best[0]): ("fastest and cheapest", best[0])}
    for name, one in ends.values():
        axes.annotate(
            f"{name}: {one.cluster.name}, batch {one.statistic.global_batch:,}",
            (factor * one.hours, one.cost or 0.0),
            xytext=(7, 7),
            textcoords="offset points",
            fontsize=9,
            color=COLOURS[0],
        )


def _marks(colour: str, predicted: bool) -> dict[str, Any]:
    return {
        "marker": "o",
        "linestyle": "",
        "markersize": 6,
        "markeredgecolor": colour,
        "markerfacecolor": "white" if predicted else colour,
    }


def draw_scaling(file: Path, curves: Sequence[Scaling], currency: str | None) -> None:
    """Draw time, and cost where there are prices, against workers: what is predicted dashed and with its interval."""
    shown = [curve for curve in curves if len(curve.points) > 1]
    if not shown:
        return
    figure = Figure(figsize=(9.5, 4.6))
    priced = any(point.cost is not None for curve in shown for point in curve.points)
    panels = figure.subplots(1, 2 if priced else 1, squeeze=False, gridspec_kw={**_MARGINS, "wspace": 0.28})[0]
    unit, factor = unit_of_time([point.hours for curve in shown for point in curve.points])
    for axes in panels:
        plain_axes(axes)
        log_axis(axes.xaxis, [point.cluster.workers for curve in shown for point in curve.points], powers_of_two=True)
        axes.set_xlabel("workers")
    panels[0].set_ylabel(f"expected time to target, {unit}")
    for curve, colour in zip(shown, cycle(COLOURS), strict=False):
        _draw_hours(panels[0], curve, colour, factor)
        if priced and curve.points[0].cost is not None:
            workers = [point.cluster.workers for point in curve.points]
            panels[1].plot(workers, [point.cost or 0.0 for point in curve.points], "o-", color=colour, markersize=4)
    log_axis(panels[0].yaxis, [factor * point.hours for curve in shown for point in curve.points])
    if priced:
        panels[1].set_ylabel(f"expected cost to target{f', {currency}' if currency else ''}")
        log_axis(panels[1].yaxis, [point.cost for curve in shown for point in curve.points if point.cost is not None])
    panels[0].legend(frameon=False, fontsize=9)
    save(figure, file)


def _draw_hours(axes: Axes, curve: Scaling, colour: str, factor: float) -> None:
    workers = [point.cluster.workers for point in curve.points]
    contents = [point.content() for point in curve.points]
    label = curve.cluster
    if curve.worth_up_to is not None:
        label += f": worth it up to {curve.worth_up_to:,}"
        axes.axvline(curve.worth_up_to, color=colour, linewidth=1, linestyle=":")
    low, high = ([factor * content[f"{end}_hours"] for content in contents] for end in ("low", "high"))
    axes.fill_between(workers, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(workers, [factor * point.hours for point in curve.points], color=colour, linewidth=1.6, label=label)
    for point in curve.points:
        axes.plot([point.cluster.workers], [factor * point.hours], **_marks(colour, point.predicted))
