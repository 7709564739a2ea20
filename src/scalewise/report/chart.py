"""What a chart shows, without a word on how it is drawn: once in the page, once as a picture."""

import dataclasses
import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Line(StrEnum):
    """How marks are joined."""

    SOLID = "solid"
    DASHED = "dashed"
    DOTTED = "dotted"
    NONE = "none"


class Shape(StrEnum):
    """What a mark looks like."""

    DOT = "dot"
    TRIANGLE = "triangle"
    NONE = "none"


@dataclass(frozen=True)
class Axis:
    """One direction of a chart."""

    label: str
    log: bool = False
    powers_of_two: bool = False
    """Ticks at powers of two, as batch sizes and workers usually are."""
    from_zero: bool = False
    whole: bool = False
    """Ticks at whole numbers only."""

    def holds(self, value: float | None) -> bool:
        """Say whether a value has a place on the axis."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.log)


@dataclass(frozen=True)
class Mark:
    """One point, maybe with an interval."""

    x: float
    y: float
    says: str = ""
    """What a reader who points at it is told, a line for each fact."""
    low: float | None = None
    high: float | None = None
    predicted: bool = False


@dataclass(frozen=True)
class Series:
    """Marks that belong together."""

    name: str
    marks: tuple[Mark, ...]
    colour: int | None = None
    """A number of `charts.COLOURS`; None for what is only there to compare with."""
    line: Line = Line.SOLID
    shape: Shape = Shape.DOT
    pale: bool = False
    silent: bool = False
    """Nothing to point at, such as a curve between marks."""
    band: tuple[tuple[float, float, float], ...] = ()
    """Place, lower and upper end."""
    label: str = ""
    """What is written beside its end."""


@dataclass(frozen=True)
class Rule:
    """A straight line across the chart."""

    axis: str
    value: float
    label: str
    colour: int | None = None


@dataclass(frozen=True)
class Plot:
    """Series in a plane."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    rules: tuple[Rule, ...] = ()

    def drawable(self) -> "Plot":
        """Return the plot with only what its axes hold: no zero on a logarithmic axis, nothing that is not finite."""
        rules = [rule for rule in self.rules if (self.x if rule.axis == "x" else self.y).holds(rule.value)]
        series = [one for one in map(self._drawable, self.series) if one.marks]
        return Plot(self.title, self.x, self.y, tuple(series), tuple(rules))

    def _drawable(self, series: Series) -> Series:
        marks = [self._bounded(mark) for mark in series.marks if self.x.holds(mark.x) and self.y.holds(mark.y)]
        band = [piece for piece in series.band if self.x.holds(piece[0]) and all(map(self.y.holds, piece[1:]))]
        return dataclasses.replace(series, marks=tuple(marks), band=tuple(band))

    def _bounded(self, mark: Mark) -> Mark:
        low, high = (end if self.y.holds(end) else None for end in (mark.low, mark.high))
        return dataclasses.replace(mark, low=low, high=high)

    def content(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"kind": "plot", **asdict(self.drawable())}


@dataclass(frozen=True)
class Bar:
    """One whole, cut into the parts of its chart."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Bars:
    """Wholes side by side, each cut into the same parts."""

    title: str
    label: str
    unit: str
    parts: tuple[str, ...]
    bars: tuple[Bar, ...]

    def content(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"kind": "bars", **asdict(self)}


Chart = Plot | Bars
