"""Draws, for Markdown, the charts that no other room draws."""

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from scalewise.charts import BASELINE_COLOUR, COLOURS, plain_axes
from scalewise.report.chart import Axis, Bars, Line, Mark, Plot, Rule, Series, Shape
from scalewise.report.words import number

_LINES = {Line.SOLID: "-", Line.DASHED: "--", Line.DOTTED: ":", Line.NONE: "none"}
_SHAPES = {Shape.DOT: "o", Shape.TRIANGLE: "^", Shape.NONE: "none"}


def draw_plot(plot: Plot) -> Figure:
    """Draw series in a plane."""
    plot = plot.drawable()
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    plain_axes(axes)
    axes.set_title(plot.title, loc="left", fontsize=11, fontweight="bold")
    for series in plot.series:
        _draw_series(axes, series)
    for rule in plot.rules:
        _draw_rule(axes, rule)
    _scale(axes, plot)
    if len(plot.series) > 1:
        axes.legend(frameon=False, fontsize=9)
    return figure


def draw_bars(bars: Bars) -> Figure:
    """Draw wholes, cut into parts, one above the other."""
    figure = Figure(figsize=(8.5, 1.4 + 0.4 * len(bars.bars)), layout="constrained")
    axes = figure.subplots()
    plain_axes(axes)
    axes.set_axisbelow(True)
    axes.set_title(bars.title, loc="left", fontsize=11, fontweight="bold")
    labels = [bar.label for bar in bars.bars]
    begins = [0.0] * len(labels)
    for index, part in enumerate(bars.parts):
        widths = [bar.values[index] for bar in bars.bars]
        axes.barh(labels, widths, left=begins, color=_colour(index), label=part, height=0.6)
        begins = [begin + width for begin, width in zip(begins, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(bars.label)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _colour(index: int | None) -> str:
    return BASELINE_COLOUR if index is None else COLOURS[index % len(COLOURS)]


def _draw_series(axes: Axes, series: Series) -> None:
    colour, alpha = _colour(series.colour), 0.35 if series.pale else 1.0
    measured = [mark for mark in series.marks if not mark.predicted]
    predicted = [mark for mark in series.marks if mark.predicted]
    look: dict[str, Any] = {"color": colour, "alpha": alpha, "markersize": 5}
    whole = series.marks if series.line is not Line.NONE else ()
    line, shape = _LINES[series.line], _SHAPES[series.shape]
    axes.plot([], [], linestyle=line, marker=shape, label=series.name, **look)  # for the legend
    axes.plot(*_places(whole), linestyle=line, color=colour, alpha=alpha)
    axes.plot(*_places(measured), linestyle="none", marker=shape, **look)
    axes.plot(*_places(predicted), linestyle="none", marker=shape, fillstyle="none", **look)
    for mark in series.marks:
        if mark.low is not None or mark.high is not None:
            ends = [mark.y if end is None else end for end in (mark.low, mark.high)]
            axes.plot([mark.x, mark.x], ends, color=colour, alpha=0.6 * alpha, linewidth=1)
    if series.band:
        places, low, high = zip(*series.band, strict=True)
        axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)


def _places(marks: Sequence[Mark]) -> tuple[list[float], list[float]]:
    return [mark.x for mark in marks], [mark.y for mark in marks]


def _draw_rule(axes: Axes, rule: Rule) -> None:
    across: Callable[..., object] = axes.axvline if rule.axis == "x" else axes.axhline
    across(rule.value, color=_colour(rule.colour), linewidth=1.2, linestyle="--", label=rule.label)


def _scale(axes: Axes, plot: Plot) -> None:
    for name, axis in (("x", plot.x), ("y", plot.y)):
        getattr(axes, f"set_{name}label")(axis.label)
        if axis.log:
            _log_scale(axes, name, axis)
        elif axis.whole:
            getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(integer=True))
        if axis.from_zero and not axis.log:
            axes.set_xlim(left=0) if name == "x" else axes.set_ylim(bottom=0)


def _log_scale(axes: Axes, name: str, axis: Axis) -> None:
    getattr(axes, f"set_{name}scale")("log", base=2 if axis.powers_of_two else 10)
    ticks = getattr(axes, f"{name}axis")
    if not axis.powers_of_two:
        ticks.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ticks.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    ticks.set_minor_formatter(NullFormatter())
