"""Draws a plot into a part of a sheet with matplotlib."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scalewise.figures.drawing_library import Axes, FixedLocator, FuncFormatter, NullLocator, XAxis, YAxis
from scalewise.figures.looks import COLOURS, PLAIN, SOFT, colour
from scalewise.figures.picture_sheet import (
    LINES,
    PALE,
    SHAPE_SIZES,
    SHAPES,
    SIZE,
    Sheet,
    fitted,
    short,
    shown,
    width_of,
)
from scalewise.figures.plot import Axis, Line, Mark, Plot, Rule, Series, Span
from scalewise.figures.scales import limits, ticks
from scalewise.words import number

_ROW, _COLUMN = 30.0, 46.0
"""The room that a tick needs, up and along."""
_GAP = 6.0
_LINE = 12.0
_MOST_FOR_ENDS = 0.4
"""The names beside the ends of lines take at most this share; where they need more, the legend has them."""
_NAMED_SPAN = 1.1
"""A part of the axis is named where it is wider than its name by this factor."""


@dataclass(frozen=True)
class Box:
    """A part of a sheet, in points."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.right - self.left


def room_for_ends(plot: Plot, width: float) -> float:
    """Return how wide the names beside the ends of lines are; 0 where there are none, or no room for them."""
    names = [series.label for series in plot.series] + [rule.label for rule in plot.rules if rule.axis == "y"]
    room = max((width_of(short(name)) + 2 * _GAP for name in names if name), default=0.0)
    return room if room < _MOST_FOR_ENDS * width else 0.0


def draw_plane(sheet: Sheet, plot: Plot, box: Box, with_ends: bool) -> None:
    """Draw axes, series, rules and names; the plot holds only what is drawable."""
    top, bottom = box.top - _LINE - _GAP, box.bottom + 2 * _LINE + _GAP
    low, high = limits(plot.y, plot.ys())
    if plot.spans:  # their names are written at the bottom
        low = low / (high / low) ** 0.08 if plot.y.log else low
    rows = ticks(plot.y, low, high, int((top - bottom) / _ROW))
    left = box.left + max((width_of(number(tick)) for tick in rows), default=0.0) + _GAP
    right = box.right - (room_for_ends(plot, box.width) if with_ends else _GAP)
    axes = sheet.axes(left, bottom, right, top)
    start, end = limits(plot.x, plot.xs())
    _scale(axes.yaxis, plot.y, (low, high), rows)
    _scale(axes.xaxis, plot.x, (start, end), ticks(plot.x, start, end, int((right - left) / _COLUMN)))
    axes.grid(axis="y", color=PLAIN, alpha=0.15, linewidth=0.8)
    sheet.text(box.left, box.top - _LINE + 3, fitted(plot.y.label, box.width))
    sheet.text(right, box.bottom + 3, fitted(plot.x.label, right - box.left), side="right")
    for span in plot.spans:
        _draw_span(axes, span, (right - left))
    for order, series in enumerate(plot.series):
        _draw_series(axes, series, 2 + order / 100)
    named = with_ends and room_for_ends(plot, box.width) > 0
    for line, rule in enumerate(plot.rules):
        _draw_rule(axes, rule, line, named, right - left)
    if named:
        _write_ends(sheet, axes, plot, Box(left, bottom, right, top))


def _scale(axis: XAxis | YAxis, scale: Axis, ends: tuple[float, float], places: Sequence[float]) -> None:
    name = "x" if isinstance(axis, XAxis) else "y"
    if scale.log:
        axis.axes.set(**{f"{name}scale": "log"})
    axis.axes.set(**{f"{name}lim": ends})
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(float(f"{value:.6g}"))))


def _draw_series(axes: Axes, series: Series, order: float) -> None:
    hue, alpha = colour(series.colour), PALE if series.pale else 1.0
    if series.band:
        places, low, high = zip(*series.band, strict=True)
        axes.fill_between(places, low, high, color=hue, alpha=0.15, linewidth=0, zorder=1)
    if series.line is not Line.NONE:
        style = "steps-post" if series.line is Line.STAIRS else "default"
        width = 1.3 if series.colour is None else 1.8
        look: dict[str, Any] = {"linestyle": LINES[series.line], "linewidth": width, "drawstyle": style}
        axes.plot(*_places(series.marks), color=hue, alpha=alpha, zorder=order, **look)
    _draw_intervals(axes, series, 0.7 * alpha, order)
    shape, size = SHAPES[series.shape], SHAPE_SIZES[series.shape]
    for predicted, filling, rim in ((False, hue, "white"), (True, "white", hue)):
        marks = [mark for mark in series.marks if mark.predicted is predicted]
        rims: dict[str, Any] = {"mfc": filling, "mec": rim, "mew": 1.3 if predicted else 0.6, "clip_on": False}
        axes.plot(*_places(marks), linestyle="none", marker=shape, ms=size, alpha=alpha, zorder=order + 1, **rims)


def _draw_intervals(axes: Axes, series: Series, alpha: float, order: float) -> None:
    """Draw a line from end to end through every mark that has an interval, all at once."""
    marks = [mark for mark in series.marks if mark.low is not None or mark.high is not None]
    if not marks:
        return
    below = [0.0 if mark.low is None else abs(mark.y - mark.low) for mark in marks]
    above = [0.0 if mark.high is None else abs(mark.high - mark.y) for mark in marks]
    look: dict[str, Any] = {"ecolor": colour(series.colour), "elinewidth": 1.2, "capsize": 2.5, "fmt": "none"}
    axes.errorbar(*_places(marks), [below, above], alpha=alpha, zorder=order, **look)


def _places(marks: Sequence[Mark]) -> tuple[list[float], list[float]]:
    return [mark.x for mark in marks], [mark.y for mark in marks]


def _draw_span(axes: Axes, span: Span, width: float) -> None:
    ends = axes.get_xlim()
    start, end = (min(max(place, ends[0]), ends[1]) for place in (span.start or ends[0], span.end or ends[1]))
    axes.axvspan(start, end, color=COLOURS[span.colour], alpha=0.07, linewidth=0, zorder=0)
    first, last = axes.transAxes.inverted().transform(axes.transData.transform([(start, 1), (end, 1)]))[:, 0]
    if (last - first) * width > _NAMED_SPAN * width_of(span.label) + _GAP:
        look: dict[str, Any] = {"fontsize": SIZE - 1, "color": SOFT, "zorder": 5}
        axes.annotate(shown(span.label), (first, 0), (_GAP, _GAP), "axes fraction", "offset points", **look)


def _draw_rule(axes: Axes, rule: Rule, line: int, named: bool, width: float) -> None:
    """Draw a line across, and its name inside of the axes, on the side where there is more room."""
    hue = colour(rule.colour)
    across: Callable[..., object] = axes.axvline if rule.axis == "x" else axes.axhline
    across(rule.value, color=hue, linewidth=1.2, linestyle=(0, (2, 2)), zorder=1.5)
    if rule.axis == "y" and named:
        return
    frame = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1}
    look: dict[str, Any] = {"fontsize": SIZE, "color": hue, "bbox": frame, "zorder": 6}
    if rule.axis == "x":
        place = float(axes.transAxes.inverted().transform(axes.transData.transform((rule.value, 1)))[0])
        side, gap = ("right", -_GAP) if place > 0.5 else ("left", _GAP)
        label = shown(fitted(rule.label, max(place, 1 - place) * width - 2 * _GAP))
        offset, transform = (gap, -_GAP - 1.2 * _LINE * line), axes.get_xaxis_transform()
        axes.annotate(label, (rule.value, 1), offset, transform, "offset points", ha=side, va="top", **look)
    else:
        label = shown(fitted(rule.label, width - 2 * _GAP))
        axes.annotate(label, (0, rule.value), (_GAP, 3), axes.get_yaxis_transform(), "offset points", **look)


def _write_ends(sheet: Sheet, axes: Axes, plot: Plot, box: Box) -> None:
    """Write each line's name beside its end, without overlaps; a line without an end comes last."""
    ends = [
        (box.bottom if not series.marks else _height(axes, box, series.marks[-1].y), series.label, series.colour)
        for series in plot.series
        if series.label
    ]
    ends += [(_height(axes, box, rule.value), rule.label, rule.colour) for rule in plot.rules if rule.axis == "y"]
    ends.sort(key=lambda end: -end[0])
    for (_, label, hue), height in zip(ends, _apart([end[0] for end in ends], box.bottom), strict=True):
        sheet.text(box.right + _GAP, height - 3, short(label), colour=colour(hue))


def _height(axes: Axes, box: Box, value: float) -> float:
    share = float(axes.transAxes.inverted().transform(axes.transData.transform((axes.get_xlim()[1], value)))[1])
    return box.bottom + share * (box.top - box.bottom)


def _apart(heights: Sequence[float], floor: float) -> list[float]:
    """Keep heights, the highest first, a line apart: down from the top, then up again from the floor.

    >>> _apart([100, 99, 20, 1], 0.0)
    [100, 88.0, 20, 1]
    >>> _apart([5, 2], 0.0)
    [12.0, 0.0]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - _LINE) if placed else height)
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = max(placed[index], floor)
        floor = placed[index] + _LINE
    return placed
