"""A sheet of paper for matplotlib, measured in points from its lower left, on which names show as themselves."""

import io
import warnings
from typing import Any

from scalewise.figures.drawing_library import Affine2D, Axes, Figure, FontProperties, Line2D, text_to_path
from scalewise.figures.looks import SOFT, colour
from scalewise.figures.plot import Line, Series, Shape
from scalewise.words import printable

SIZE = 9.0
"""Of most letters."""
_INCH = 72.0
_DOTS_PER_INCH = 160
_FAST = {"compress_level": 2}
"""Of PNG files: a quarter larger than by default, and encoded in a third of the time."""
_LONGEST_NAME, _SHORTEST_NAME = 60, 6
LINES: dict[Line, Any] = {
    Line.SOLID: "-",
    Line.STAIRS: "-",
    Line.DASHED: (0, (5, 3)),
    Line.DOTTED: (0, (1, 2)),
    Line.NONE: "none",
}
SHAPES = {Shape.DOT: "o", Shape.TRIANGLE: "^", Shape.STAR: "*", Shape.SQUARE: "s", Shape.NONE: "none"}
SHAPE_SIZES = {Shape.DOT: 5.5, Shape.TRIANGLE: 6.5, Shape.STAR: 12.0, Shape.SQUARE: 8.0, Shape.NONE: 0.0}
PALE = 0.4


def shown(text: str) -> str:
    r"""Return text that matplotlib shows as itself: a dollar sign begins no formula, and fonts have every sign.

    >>> print(shown("$_{$ a\x07"))
    \$_{\$ a?
    """
    return printable(text).replace("$", r"\$")


def short(text: str, longest: int = _LONGEST_NAME) -> str:
    """Leave the middle of a long name out.

    >>> short("abcdefghijkl", 7), short("abc", 7)
    ('abc...l', 'abc')
    """
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[: longest - 3 - half + 1]}...{text[len(text) - half + 1 :]}"


def width_of(text: str, size: float = SIZE) -> float:
    """Return how many points a text takes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a sign that the font lacks is drawn as a box
        width, _, _ = text_to_path.get_text_width_height_descent(printable(text), FontProperties(size=size), False)
    return float(width)


def fitted(text: str, width: float, size: float = SIZE) -> str:
    """Shorten a text until it takes no more than so many points."""
    longest = min(len(text), _LONGEST_NAME)
    while longest > _SHORTEST_NAME and width_of(short(text, longest), size) > width:
        longest -= 1
    return short(text, longest)


class Sheet:
    """An empty sheet of some size."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / _INCH, height / _INCH))
        self.points = Affine2D().scale(1 / _INCH) + self.figure.dpi_scale_trans

    def axes(self, left: float, bottom: float, right: float, top: float) -> Axes:
        """Return axes between these ends, with nothing but a line below."""
        place = (left / self.width, bottom / self.height, (right - left) / self.width, (top - bottom) / self.height)
        axes = self.figure.add_axes(place)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(SOFT)
        axes.tick_params(labelsize=SIZE, labelcolor=SOFT, color=SOFT, length=3)
        axes.tick_params(axis="y", length=0)
        axes.set_axisbelow(True)
        return axes

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = SIZE,
        colour: str = SOFT,
        side: str = "left",
        bold: bool = False,
    ) -> None:
        """Write a line of text on its baseline."""
        weight = "bold" if bold else "normal"
        self.figure.text(
            x, y, shown(text), transform=self.points, fontsize=size, color=colour, ha=side, va="baseline", weight=weight
        )

    def swatch(self, x: float, y: float, series: Series) -> None:
        """Draw a piece of a series, for a legend: as wide as `SWATCH`, around a height."""
        marked = series.shape is not Shape.NONE
        hollow = any(mark.predicted for mark in series.marks) and len(series.marks) == 1
        self.figure.add_artist(
            Line2D(
                [x, x + SWATCH / 2, x + SWATCH],
                [y, y, y],
                transform=self.points,
                color=colour(series.colour),
                alpha=PALE if series.pale else 1.0,
                linestyle=LINES[series.line],
                linewidth=1.8,
                marker=SHAPES[series.shape] if marked else None,
                markersize=SHAPE_SIZES[series.shape],
                markerfacecolor="white" if hollow else colour(series.colour),
                markevery=[1],
            )
        )

    def content(self, form: str) -> bytes:
        """Return the sheet as a file has it: png or svg."""
        stream = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options: dict[str, Any] = {"pil_kwargs": _FAST} if form == "png" else {}
            self.figure.savefig(stream, dpi=_DOTS_PER_INCH, format=form, **options)
        return stream.getvalue()


SWATCH = 20.0
"""How wide a piece of a series is in a legend."""
