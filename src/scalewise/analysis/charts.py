"""The pictures of an analysis."""

import re
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scalewise.analysis.curve import Curve, Region
from scalewise.analysis.findings import Workload
from scalewise.analysis.outcomes import effective_learning_rate
from scalewise.analysis.scatter import Fate, ScatterPoint
from scalewise.charts import BASELINE_COLOUR, COLOURS, label_line_ends, log_axis, plain_axes, save

_REGION_COLOURS = {Region.PERFECT: "#E8F1F8", Region.DIMINISHING: "#FBF3E2", Region.MAXIMAL: "#F8E7E2"}
_FATES = {Fate.GOAL: (COLOURS[0], "o"), Fate.NO_GOAL: ("#BBBBBB", "o"), Fate.INFEASIBLE: (COLOURS[1], "x")}
_PANELS_PER_ROW = 4


def draw_all(out: Path, workloads: Sequence[Workload]) -> list[Path]:
    """Draw whatever there is something to draw for; return the files."""
    pictures = []
    for workload in workloads:
        folder = out / re.sub(r"[^\w./-]+", "_", workload.curve.name) if len(workloads) > 1 else out
        for name, figure in figures(workload).items():
            save(figure, folder / f"{name}.png")
            pictures.append(folder / f"{name}.png")
    if len(workloads) > 1 and (together := _together([workload.curve for workload in workloads])) is not None:
        save(together, out / "steps_together.png")
        pictures.append(out / "steps_together.png")
    return pictures


def figures(workload: Workload) -> dict[str, Figure]:
    """Draw, by name, whatever one workload has something to draw for."""
    drawn = {name: draw(workload) for name, draw in _PICTURES.items()}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def _steps(workload: Workload) -> Figure | None:
    """Draw steps against batch size: points, perfect scaling, the fit with its band, the regions."""
    curve = workload.curve
    reached = [(row.batch_size, row.steps, row.high) for row in curve.rows if row.steps is not None]
    if not reached:
        return None
    figure = Figure(figsize=(8.5, 5.2), layout="constrained")
    axes = figure.subplots()
    batches, steps = np.array([row[0] for row in reached], float), np.array([row[1] for row in reached], float)
    _log_axes(axes, [row.batch_size for row in curve.rows])
    tops = np.array([step if high is None else high for _, step, high in reached], float)
    bounds = [(row.batch_size, row.tried_steps) for row in curve.rows if row.steps is None and row.tried_steps > 0]
    highest = max([*tops, *(steps for _, steps in bounds)])
    axes.set_ylim(steps.min() / 1.6, highest * 1.8)
    perfect = curve.fewest_examples / batches
    axes.plot(batches, perfect, "--", color=BASELINE_COLOUR, linewidth=1.2, label="perfect scaling")
    if curve.fit.value is not None:
        _draw_fit(axes, curve)
    axes.errorbar(
        batches, steps, yerr=[0 * steps, tops - steps], fmt="o", color=COLOURS[0], capsize=3, zorder=4, label="measured"
    )
    if bounds:
        axes.plot(*zip(*bounds, strict=True), "^", color=COLOURS[1], label="not reached: more steps than this")
    axes.set_ylabel("steps to target")
    axes.set_title(curve.name if curve.target is None else f"{curve.name}: {curve.target}", loc="left")
    axes.legend(frameon=False, loc="upper right")
    return figure


def _draw_fit(axes: Axes, curve: Curve) -> None:
    """Draw the fit, the curves that the interval allows, and the regions with their names."""
    fit = curve.fit
    assert fit.value is not None
    left, right = axes.get_xlim()
    batches = np.geomspace(left, right, 300)
    fitted = np.array([fit.steps(batch) for batch in batches])
    axes.plot(batches, fitted, color=COLOURS[0], linewidth=2, label="$S_{min}\\,(1 + B_{crit}/B)$", zorder=3)
    ends = [s_min * (1 + critical / batches) for critical, s_min in fit.band]
    low, high = np.min([*ends, fitted], axis=0), np.max([*ends, fitted], axis=0)
    axes.fill_between(batches, low, high, color=COLOURS[0], alpha=0.15, linewidth=0, zorder=2)
    if not fit.form_fits:
        return
    cuts = [left, min(max(0.2 * fit.value, left), right), min(max(5 * fit.value, left), right), right]
    for region, start, end in zip(Region, cuts, cuts[1:], strict=False):
        axes.axvspan(start, end, color=_REGION_COLOURS[region], zorder=0, linewidth=0)
        if end / start > 6:
            middle = np.sqrt(start * end)
            axes.text(
                middle, 0.02, region, transform=axes.get_xaxis_transform(), ha="center", fontsize=8, color="#666666"
            )
    axes.axvline(fit.value, color=COLOURS[0], linewidth=1, linestyle=":", zorder=1)
    axes.annotate(
        f" $B_{{crit}}$ = {fit.value:,.0f}", (fit.value, 0.78), xycoords=axes.get_xaxis_transform(), color=COLOURS[0]
    )


def _learning_rate(workload: Workload) -> Figure | None:
    """Draw the best trials' effective learning rates, with the lines of both scaling rules."""
    rows = [row for row in workload.curve.rows if row.steps is not None]
    found = [(row.batch_size, rate) for row in rows if (rate := effective_learning_rate(row.parameters)) is not None]
    if len(found) < 2:
        return None
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    batches, rates = (np.array(values, float) for values in zip(*found, strict=True))
    _log_axes(axes, [row.batch_size for row in rows])
    axes.plot(batches, rates, "o-", color=COLOURS[0], linewidth=2, label="best trial")
    for power, style, label in ((1.0, "--", "linear scaling"), (0.5, ":", "square-root scaling")):
        # Each line where it is nearest to all points, so that slopes are compared and not the luck of the first point.
        offset = np.mean(np.log(rates) - power * np.log(batches))
        axes.plot(batches, np.exp(offset) * batches**power, style, color=BASELINE_COLOUR, linewidth=1.2, label=label)
    axes.set_ylabel("effective learning rate, rate / (1 - momentum)")
    axes.set_title(workload.curve.name, loc="left")
    axes.legend(frameon=False)
    return figure


def _scatter(workload: Workload) -> Figure | None:
    """Draw all trials by learning rate and momentum, a panel for each batch size."""
    if not workload.scatter:
        return None
    count = len(workload.scatter)
    columns = min(_PANELS_PER_ROW, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(2.9 * columns + 0.6, 2.7 * rows + 0.8), layout="constrained")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for panel in panels.flat[count:]:
        panel.set_visible(False)
    every = [point for points in workload.scatter.values() for point in points]
    panels[0, 0].set_xlim(*_around([point.learning_rate for point in every]))
    panels[0, 0].set_ylim(*_around([point.one_minus_momentum for point in every]))
    for panel, (batch_size, points) in zip(panels.flat, sorted(workload.scatter.items()), strict=False):
        plain_axes(panel)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(f"batch {batch_size:,}", fontsize=9, loc="left")
        _draw_points(panel, points)
    figure.supxlabel("learning rate")
    figure.supylabel("1 - momentum")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=4, frameon=False)
    return figure


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Return ends for all panels: left to itself, a panel whose trials share a value has none."""
    return min(values) / 1.5, max(values) * 1.5


def _draw_points(panel: Axes, points: Sequence[ScatterPoint]) -> None:
    for fate, (colour, marker) in _FATES.items():
        chosen = [(point.learning_rate, point.one_minus_momentum) for point in points if point.fate is fate]
        rates, momenta = zip(*chosen, strict=True) if chosen else ((), ())
        panel.scatter(rates, momenta, s=14, color=colour, marker=marker, label=fate, linewidths=1)
    best = [(point.learning_rate, point.one_minus_momentum) for point in points if point.best]
    rates, momenta = zip(*best, strict=True) if best else ((), ())
    panel.scatter(
        rates, momenta, s=110, color=COLOURS[5], marker="*", edgecolor="black", linewidths=0.6, label="best", zorder=4
    )


def _budgets(workload: Workload) -> Figure | None:
    """Draw the best metric within each budget."""
    names = list(dict.fromkeys(best.budget for best in workload.budgets))
    if not names:
        return None
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    _log_axes(axes, [best.batch_size for best in workload.budgets])
    axes.set_yscale("linear")
    for name, colour in zip(names, cycle(COLOURS), strict=False):
        found = [
            (best.batch_size, best.value) for best in workload.budgets if best.budget == name and best.value is not None
        ]
        if found:
            axes.plot(*zip(*found, strict=True), "o-", color=colour, linewidth=2, label=f"within {name}")
    metric = (workload.curve.target or "metric").partition("<")[0].partition(">")[0]
    axes.set_ylabel(f"best {metric}")
    axes.set_title(workload.curve.name, loc="left")
    axes.legend(frameon=False)
    return figure


def _together(curves: Sequence[Curve]) -> Figure | None:
    """Draw several curves, each against its own first point, so that their shapes can be compared."""
    figure = Figure(figsize=(8.5, 5.2), layout="constrained")
    axes = figure.subplots()
    found = [[(row.batch_size, row.steps) for row in curve.rows if row.steps is not None] for curve in curves]
    sizes = [batch for points in found for batch, _ in points]
    if not sizes:
        return None
    _log_axes(axes, sizes)
    ends: list[tuple[float | None, str, str]] = []
    for curve, points, colour in zip(curves, found, cycle(COLOURS), strict=False):
        if points:
            batches, steps = (np.array(values, float) for values in zip(*points, strict=True))
            axes.plot(batches, steps / steps[0], "o-", color=colour, linewidth=2, markersize=4)
            ends.append((float(steps[-1] / steps[0]), curve.name, colour))
    first, last = min(sizes), max(sizes)
    axes.plot([first, last], [1, first / last], "--", color=BASELINE_COLOUR, linewidth=1.2)
    ends.append((first / last, "perfect scaling", BASELINE_COLOUR))
    axes.set_ylabel("steps to target, against those of the smallest batch")
    label_line_ends(axes, ends)
    return figure


def _log_axes(axes: Axes, batch_sizes: Sequence[float]) -> None:
    """Make both axes logarithmic, with the batch sizes as powers of two in plain figures."""
    plain_axes(axes)
    log_axis(axes.xaxis, batch_sizes, powers_of_two=True)
    axes.set_yscale("log")
    axes.set_xlabel("batch size")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


_PICTURES: dict[str, Callable[[Workload], Figure | None]] = {
    "steps": _steps,
    "learning_rate": _learning_rate,
    "scatter": _scatter,
    "budgets": _budgets,
}
