"""What a chart in a plane shows, independent of how it is drawn."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Line(StrEnum):
    """How marks are joined."""

    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"
    STAIRS = "stairs"
    """A value holds until the next mark."""
    NONE = "none"


class Shape(StrEnum):
    """What a mark looks like."""

    DOT = "dot"
    TRIANGLE = "triangle"
    STAR = "star"
    SQUARE = "square"
    NONE = "none"


@dataclass(frozen=True)
class Axis:
    """One direction of a chart."""

    label: str
    """The quantity and its unit."""
    log: bool = False
    powers_of_two: bool = False
    """Ticks at powers of two, as batch sizes and workers usually are."""
    from_zero: bool = False
    whole: bool = False
    """Ticks at whole numbers only."""
    shows: tuple[float, ...] = ()
    """Values that it shows in any case: plots side by side are compared by axes that go equally far."""

    def holds(self, value: float | None) -> bool:
        """Say whether a value has a place on the axis."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.log)


@dataclass(frozen=True)
class Mark:
    """One point, maybe with an interval."""

    x: float
    y: float
    says: str = ""
    """The text of its tooltip, a line for each fact."""
    low: float | None = None
    high: float | None = None
    predicted: bool = False


@dataclass(frozen=True)
class Series:
    """Marks that belong together."""

    name: str
    marks: tuple[Mark, ...]
    colour: int | None = None
    """A number of `looks.COLOURS`; None for what is only there to compare with."""
    line: Line = Line.SOLID
    shape: Shape = Shape.DOT
    pale: bool = False
    silent: bool = False
    """Nothing to point at, such as a curve between marks."""
    band: tuple[tuple[float, float, float], ...] = ()
    """Place, lower and upper end."""
    label: str = ""
    """What is written beside its end; also where it has no marks, such as "diverged"."""


@dataclass(frozen=True)
class Rule:
    """A straight line across the chart."""

    axis: str
    value: float
    label: str
    colour: int | None = None


@dataclass(frozen=True)
class Span:
    """A part of the x axis that has a name; None is where the axis ends."""

    start: float | None
    end: float | None
    label: str
    colour: int


@dataclass(frozen=True)
class Plot:
    """Series in a plane."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    rules: tuple[Rule, ...] = ()
    spans: tuple[Span, ...] = ()
    about: str = ""
    """What it is of, for a picture that stands alone; a page says it above."""

    def drawable(self) -> "Plot":
        """Return the plot with only what its axes hold: no zero on a logarithmic axis, nothing that is not finite."""
        rules = [rule for rule in self.rules if (self.x if rule.axis == "x" else self.y).holds(rule.value)]
        series = [one for one in map(self._drawable, self.series) if one.marks or one.label]
        return dataclasses.replace(self, series=tuple(series), rules=tuple(rules))

    def empty(self) -> bool:
        """Say whether there is no mark to draw."""
        return not any(series.marks for series in self.drawable().series)

    def xs(self) -> Iterator[float]:
        """Return every place along x that should be seen."""
        yield from self.x.shows
        yield from (mark.x for series in self.series for mark in series.marks)
        yield from (rule.value for rule in self.rules if rule.axis == "x")

    def ys(self) -> Iterator[float]:
        """Return every height that should be seen."""
        yield from self.y.shows
        for series in self.series:
            for mark in series.marks:
                yield from (end for end in (mark.low, mark.y, mark.high) if end is not None)
            yield from (end for piece in series.band for end in piece[1:])
        yield from (rule.value for rule in self.rules if rule.axis == "y")

    def _drawable(self, series: Series) -> Series:
        marks = [self._bounded(mark) for mark in series.marks if self.x.holds(mark.x) and self.y.holds(mark.y)]
        band = [piece for piece in series.band if self.x.holds(piece[0]) and all(map(self.y.holds, piece[1:]))]
        return dataclasses.replace(series, marks=tuple(marks), band=tuple(band))

    def _bounded(self, mark: Mark) -> Mark:
        low, high = (end if self.y.holds(end) else None for end in (mark.low, mark.high))
        return dataclasses.replace(mark, low=low, high=high)


@dataclass(frozen=True)
class Panels:
    """Plots side by side, with one legend: a series of the same name looks the same in all of them."""

    title: str
    plots: tuple[Plot, ...]
    about: str = ""
