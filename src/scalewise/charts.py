"""How every chart looks."""

import io
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalewise.record.atomic import write_result

# Told apart also by eyes that confuse red and green (Okabe and Ito's set, without its yellow).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#6A3D9A")
BASELINE_COLOUR = "#444444"
_LINE_HEIGHT = 0.055


def plain_axes(axes: Axes) -> None:
    """Leave only what carries information: two spines and a pale grid."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


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
