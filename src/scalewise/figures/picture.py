"""Draws charts as pictures with matplotlib, which takes a moment to load: import this only where something is drawn."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scalewise.figures.bars import Bar, Bars
from scalewise.figures.drawing_library import Axes
from scalewise.figures.figure import Chart
from scalewise.figures.looks import PLAIN, colour
from scalewise.figures.picture_plane import Box, draw_plane, room_for_ends
from scalewise.figures.picture_sheet import SIZE, SWATCH, Sheet, fitted, short, shown, width_of
from scalewise.figures.plot import Axis, Line, Mark, Panels, Plot, Series, Shape
from scalewise.figures.scales import ticks
from scalewise.words import number

_WIDTH = 612.0
_MARGIN = 10.0
_PLOT_HEIGHT, _PANEL_HEIGHT, _BAR_HEIGHT = 300.0, 185.0, 34.0
_PANELS_PER_ROW = 4
_SMALL_FROM = 3
"""So many plots side by side are small."""
_BAR_TICKS = 10
_TITLE_SIZE, _TITLE_LETTERS, _LONGEST_TITLE = 11.0, 84, 160
_LEGEND_LINE, _TITLE_LINE = 15.0, 16.0
_GAP = 6.0


def picture(chart: Chart, form: str = "png") -> bytes:
    """Return a chart as the content of a file: png or svg."""
    return draw(chart).content(form)


def draw(chart: Chart) -> Sheet:
    """Lay a chart out on a sheet of its own."""
    return _draw_bars(chart) if isinstance(chart, Bars) else _draw_plots(chart)


def _draw_plots(chart: Plot | Panels) -> Sheet:
    """Draw one plot with names at the ends of its lines, or several in rows."""
    alone = isinstance(chart, Plot)
    plots = [plot.drawable() for plot in ([chart] if isinstance(chart, Plot) else chart.plots)]
    with_ends = alone and room_for_ends(plots[0], _WIDTH - 2 * _MARGIN) > 0
    head = _Head(chart.title, chart.about, _legend(plots, with_ends), _WIDTH - 2 * _MARGIN)
    grid = _Grid(len(plots), 0.0 if alone else _TITLE_LINE)
    sheet = Sheet(_WIDTH, head.height + grid.rows * grid.row_height + 2 * _MARGIN)
    head.draw(sheet)
    for index, plot in enumerate(plots):
        box = grid.box(index, sheet.height - _MARGIN - head.height)
        if not alone:
            title = fitted(plot.title, box.width - _GAP, SIZE + 1)  # bold letters are a little wider
            sheet.text(box.left, box.top + 4, title, colour=PLAIN, bold=True)
        draw_plane(sheet, plot, box, with_ends)
    return sheet


@dataclass(frozen=True)
class _Grid:
    """Where each of some plots lies."""

    count: int
    title_height: float

    @property
    def columns(self) -> int:
        return min(self.count, _PANELS_PER_ROW)

    @property
    def rows(self) -> int:
        return -(-self.count // self.columns)

    @property
    def row_height(self) -> float:
        return self.title_height + (_PLOT_HEIGHT if self.count < _SMALL_FROM else _PANEL_HEIGHT)

    def box(self, index: int, top: float) -> Box:
        """Return the place of a plot, without its title, below a height."""
        width = (_WIDTH - 2 * _MARGIN + _GAP) / self.columns
        left, top = _MARGIN + index % self.columns * width, top - index // self.columns * self.row_height
        return Box(left, top - self.row_height + _GAP, left + width - _GAP, top - self.title_height)


def _legend(plots: Sequence[Plot], with_ends: bool) -> list[Series]:
    """Return the series that a reader cannot know by a name beside them, and what a hollow mark means."""
    found = {series.name: series for plot in plots for series in plot.series if not (with_ends and series.label)}
    entries = list(found.values()) if with_ends or len(found) > 1 else []
    if any(mark.predicted for plot in plots for series in plot.series for mark in series.marks):
        hollow = Mark(0, 0, predicted=True)
        entries.append(Series("predicted", (hollow,), None, Line.NONE))
    return entries


class _Head:
    """Title, what it is about, and legend, above a chart."""

    def __init__(self, title: str, about: str, legend: Sequence[Series], width: float) -> None:
        self._title = textwrap.wrap(short(title, _LONGEST_TITLE), _TITLE_LETTERS)
        self._about = short(about, 110)
        self._rows = list(_flow(legend, width))
        lines = _TITLE_LINE * len(self._title) + (_LEGEND_LINE if about else 0.0)
        self.height = lines + _LEGEND_LINE * len(self._rows) + _GAP

    def draw(self, sheet: Sheet) -> None:
        """Draw it at the top of a sheet."""
        y = sheet.height - _MARGIN - 9
        for line in self._title:
            sheet.text(_MARGIN, y, line, _TITLE_SIZE, PLAIN, bold=True)
            y -= _TITLE_LINE
        if self._about:
            sheet.text(_MARGIN, y + 1, self._about)
            y -= _LEGEND_LINE
        for row in self._rows:
            for x, series in row:
                sheet.swatch(_MARGIN + x, y + 3, series)
                sheet.text(_MARGIN + x + SWATCH + _GAP, y, short(series.name), colour=PLAIN)
            y -= _LEGEND_LINE


def _flow(legend: Sequence[Series], width: float) -> Iterable[list[tuple[float, Series]]]:
    """Place entries one after the other, in as many rows as they need."""
    row: list[tuple[float, Series]] = []
    x = 0.0
    for series in legend:
        wide = SWATCH + 4 * _GAP + width_of(short(series.name))
        if row and x + wide > width:
            yield row
            row, x = [], 0.0
        row.append((x, series))
        x += wide
    if row:
        yield row


def _draw_bars(bars: Bars) -> Sheet:
    """Draw wholes, cut into parts, one above the other, each below its name."""
    legend = [Series(part, (), index, Line.NONE, Shape.SQUARE) for index, part in enumerate(bars.parts)]
    head = _Head(bars.title, bars.about, legend, _WIDTH - 2 * _MARGIN)
    body = _BAR_HEIGHT * len(bars.bars)
    sheet = Sheet(_WIDTH, head.height + body + 5 * _MARGIN)
    head.draw(sheet)
    right, top = _WIDTH - 2 * _MARGIN, sheet.height - _MARGIN - head.height
    axes = sheet.axes(_MARGIN, top - body, right, top)
    most = max((sum(bar.values) for bar in bars.bars), default=0.0) or 1.0
    places = ticks(Axis(bars.label), 0.0, most, _BAR_TICKS)
    axes.set(xlim=(0, most), ylim=(len(bars.bars), 0), yticks=[])
    axes.set_xticks(places, [number(place) for place in places])
    axes.grid(axis="x", color=PLAIN, alpha=0.15, linewidth=0.8)
    for row, bar in enumerate(bars.bars):
        _draw_bar(axes, bar, row)
    sheet.text(right, top - body - 2 * _TITLE_LINE, fitted(bars.label, right - _MARGIN), side="right")
    return sheet


def _draw_bar(axes: Axes, bar: Bar, row: int) -> None:
    above, place = (0, -10), ("axes fraction", "data")
    axes.annotate(shown(short(bar.label)), (0, row), above, place, "offset points", fontsize=SIZE, color=PLAIN)
    begin = 0.0
    for part, value in enumerate(bar.values):
        axes.barh(row + 0.62, value, 0.42, begin, color=colour(part), edgecolor="white", linewidth=0.6)
        begin += value
