"""How every chart looks."""

import io
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from scalewise.storage import write_result

# Told apart also by eyes that confuse red and green (Okabe and Ito's set, without its yellow).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A")
BASELINE_COLOUR = "#444444"
_LINE_HEIGHT = 0.055
HOURS_IN_DAYS = 72
"""From so many hours on, days are easier to imagine."""
_ROOM = 1.4
_HALF_A_DECADE, _MANY_DECADES = 5.0, 1e4


def plain_axes(axes: Axes) -> None:
    """Leave only what carries information: two spines and a pale grid."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def log_axis(axis: XAxis | YAxis, values: Sequence[float], powers_of_two: bool = False) -> None:
    """Make an axis logarithmic, with room around its values and ticks in plain figures."""
    axes, name = axis.axes, "x" if isinstance(axis, XAxis) else "y"
    axes.set(**{f"{name}scale": "log"})
    low, high = min(values), max(values)
    axes.set(**{f"{name}lim": (low / _ROOM, high * _ROOM)})
    axis.set_major_locator(LogLocator(base=2) if powers_of_two else LogLocator(subs=_subdivisions(high / low)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))


def _subdivisions(ratio: float) -> Sequence[float]:
    """Return which multiples of a power of ten are ticks: the more, the fewer decades there are."""
    if ratio < _HALF_A_DECADE:
        return range(1, 10)
    return (1, 2, 5) if ratio < _MANY_DECADES else (1,)


def unit_of_time(hours: Sequence[float]) -> tuple[str, float]:
    """Return a unit that suits all of some times, and how many of it an hour has.

    >>> unit_of_time([4.2, 9.8]), unit_of_time([0.0001, 0.0005])
    (('hours', 1.0), ('seconds', 3600.0))
    """
    longest = max(hours)
    if longest >= HOURS_IN_DAYS:
        return "days", 1 / 24
    return ("hours", 1.0) if longest >= 1 else ("minutes", 60.0) if longest >= 1 / 60 else ("seconds", 3600.0)


def label_line_ends(axes: Axes, ends: Sequence[tuple[float | None, str, str]]) -> None:
    """Write each line's label beside its end, in its colour, without overlaps; a line without an end comes last."""
    heights = [(-1.0 if end is None else _height(axes, end), label, colour) for end, label, colour in ends]
    previous = 1.0 + _LINE_HEIGHT
    for height, label, colour in sorted(heights, reverse=True):
        previous = min(height, previous - _LINE_HEIGHT) if height >= 0 else previous - _LINE_HEIGHT
        axes.annotate(
            label,
            (1.0, previous),
            xycoords="axes fraction",
            xytext=(8, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            fontsize=9,
            annotation_clip=False,
        )


def _height(axes: Axes, value: float) -> float:
    """Return how far up a value is, as a share of the axis, whatever its scale."""
    place = axes.transData.transform((axes.get_xlim()[1], value))
    return float(axes.transAxes.inverted().transform(place)[1])


def png(figure: Figure) -> bytes:
    """Return a picture as a PNG file has it."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=160, format="png")
    return stream.getvalue()


def save(figure: Figure, file: Path) -> None:
    """Write a picture, whole or not at all."""
    write_result(file, png(figure))
