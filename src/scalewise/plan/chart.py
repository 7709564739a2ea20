"""The pictures of a plan: time against cost, and what more workers bring."""

import pickle
import signal
import sys
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalewise.charts import COLOURS, log_axis, plain_axes, png, unit_of_time

Point = tuple[float, float, bool]
"""Where it is, and whether it is predicted."""

_PALE = "#C9C9C9"
_MARGINS = {"left": 0.1, "right": 0.98, "bottom": 0.12, "top": 0.97}
"""Fixed: finding them would draw every picture twice."""


def pictures(
    priced: Sequence[Point],
    frontier: Sequence[Mapping[str, Any]],
    scaling: Sequence[Mapping[str, Any]],
    currency: str | None,
) -> dict[str, bytes]:
    """Draw what there is to draw, by the names of files, from hours and costs and from parts of `plan.json`."""
    drawn = {}
    if priced:
        drawn["plan.png"] = png(_plan(priced, frontier, currency))
    if shown := [curve for curve in scaling if len(curve["points"]) > 1]:
        drawn["scaling.png"] = png(_scaling(shown, currency))
    return drawn


def _plan(priced: Sequence[Point], frontier: Sequence[Mapping[str, Any]], currency: str | None) -> Figure:
    """Draw candidates by time and cost: the frontier in colour, what it beats pale."""
    figure = Figure(figsize=(8.5, 5.2))
    axes = figure.subplots(gridspec_kw={**_MARGINS, "top": 0.93})
    plain_axes(axes)
    unit, factor = unit_of_time([hours for hours, _, _ in priced])
    dominated = [(factor * hours, cost, predicted) for hours, cost, predicted in priced]
    _draw_points(axes, dominated, _PALE, label="{}, dominated")
    best = [(factor * one["hours"], one["cost"], one["predicted"]) for one in frontier]
    hours, costs, _ = zip(*best, strict=True)
    axes.plot(hours, costs, color=COLOURS[0], linewidth=1.6, drawstyle="steps-post", zorder=3, label="frontier")
    _draw_points(axes, best, COLOURS[0])
    _label_ends(axes, frontier, factor)
    log_axis(axes.xaxis, [factor * hours for hours, _, _ in priced])
    log_axis(axes.yaxis, [cost for _, cost, _ in priced])
    axes.set_xlabel(f"expected time to target, {unit}")
    axes.set_ylabel(f"expected cost to target{f', {currency}' if currency else ''}")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3)  # above: points may be anywhere
    return figure


def _label_ends(axes: Axes, frontier: Sequence[Mapping[str, Any]], factor: float) -> None:
    """Name the fastest, above its point, and the cheapest, below it, where there is nothing."""
    ends = [("fastest", frontier[0], "left", 7), ("cheapest", frontier[-1], "right", -15)]
    if len(frontier) == 1:
        ends = [("fastest and cheapest", frontier[0], "left", 7)]
    for name, one, side, height in ends:
        axes.annotate(
            f"{name}: {one['cluster']}, batch {one['global_batch']:,}",
            (factor * one["hours"], one["cost"]),
            xytext=(7, height),
            textcoords="offset points",
            ha=side,
            fontsize=9,
            color=COLOURS[0],
            bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1},
            zorder=5,
        )


def _draw_points(axes: Axes, points: Sequence[Point], colour: str, label: str | None = None) -> None:
    """Draw points, full where measured, hollow where predicted."""
    for predicted, name, filling in ((False, "measured", colour), (True, "predicted", "white")):
        if chosen := [(x, y) for x, y, guessed in points if guessed == predicted]:
            axes.plot(
                *zip(*chosen, strict=True),
                marker="o",
                linestyle="",
                markersize=6,
                markeredgecolor=colour,
                markerfacecolor=filling,
                zorder=2 if label else 4,
                label=label and label.format(name),
            )


def _scaling(shown: Sequence[Mapping[str, Any]], currency: str | None) -> Figure:
    """Draw time, and cost where there are prices, against workers: what is predicted hollow, with its interval."""
    figure = Figure(figsize=(9.5, 4.6))
    points = [point for curve in shown for point in curve["points"]]
    costs = [point["cost"] for point in points if point["cost"] is not None]
    panels = figure.subplots(1, 2 if costs else 1, squeeze=False, gridspec_kw={**_MARGINS, "wspace": 0.28})[0]
    unit, factor = unit_of_time([point["hours"] for point in points])
    for axes in panels:
        plain_axes(axes)
        log_axis(axes.xaxis, [point["workers"] for point in points], powers_of_two=True)
        axes.set_xlabel("workers")
    panels[0].set_ylabel(f"expected time to target, {unit}")
    for curve, colour in zip(shown, cycle(COLOURS), strict=False):
        _draw_hours(panels[0], curve, colour, factor)
        if curve["points"][0]["cost"] is not None:
            workers, cost = ([point[name] for point in curve["points"]] for name in ("workers", "cost"))
            panels[1].plot(workers, cost, "o-", color=colour, markersize=4)
    log_axis(panels[0].yaxis, [factor * point["hours"] for point in points])
    if costs:
        panels[1].set_ylabel(f"expected cost to target{f', {currency}' if currency else ''}")
        log_axis(panels[1].yaxis, costs)
    panels[0].legend(frameon=False, fontsize=9)
    return figure


def _draw_hours(axes: Axes, curve: Mapping[str, Any], colour: str, factor: float) -> None:
    points, worth_up_to = curve["points"], curve["worth_up_to"]
    label = curve["cluster"]
    if worth_up_to is not None:
        label += f": worth it up to {worth_up_to:,}"
        axes.axvline(worth_up_to, color=colour, linewidth=1, linestyle=":")
    workers = [point["workers"] for point in points]
    hours, low, high = ([factor * point[name] for point in points] for name in ("hours", "low_hours", "high_hours"))
    axes.fill_between(workers, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(workers, hours, color=colour, linewidth=1.6, label=label)
    predicted = [point["predicted"] for point in points]
    _draw_points(axes, list(zip(workers, hours, predicted, strict=True)), colour)


if __name__ == "__main__":  # what a painter starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who plans ends this process as well
    pickle.dump(pictures(*pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
