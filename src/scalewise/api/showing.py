"""How results show themselves in a notebook: sentences, tables and charts as HTML, with charts as pictures inside."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from scalewise.errors import ConfigError, nearest
from scalewise.figures.figure import Figure
from scalewise.figures.table import Table
from scalewise.storage import write_result
from scalewise.words import printable

_WIDTH = 612
"""Of a picture, as `figures/picture.py` lays it out."""
_MOST_ROWS = 12


@dataclass(frozen=True)
class Shown:
    """What a result has to show."""

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()

    def html(self) -> str:
        """Return it as HTML."""
        paragraphs = [f"<p>{_text(one)}</p>" for one in [" ".join(self.sentences)] if one]
        tables = [_table(table) for table in self.tables if table.rows]
        return "\n".join(
            [f"<h4>{_text(self.title)}</h4>", *paragraphs, *tables, *(Picture(one).html() for one in self.figures)]
        )


class Shows:
    """Something that shows itself in a notebook."""

    def _shown(self) -> Shown:
        raise NotImplementedError

    def _figures(self) -> Sequence[Figure]:
        return self._shown().figures

    def _repr_html_(self) -> str:
        return self._shown().html()

    def plot(self, name: str | None = None) -> "Picture":
        """Return a chart, which a notebook shows and `save` writes: the first one, or the one of a name."""
        figures = {figure.name: figure for figure in self._figures()}
        if not figures:
            raise ConfigError(f"{type(self).__name__} has nothing to draw yet")
        if name is not None and name not in figures:
            hint = nearest(name, figures) or f"; there are {', '.join(figures)}"
            raise ConfigError(f"{type(self).__name__} has no chart {name!r}{hint}")
        return Picture(figures[name] if name is not None else next(iter(figures.values())))


class Picture:
    """A chart."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self._contents: dict[str, bytes] = {}

    @property
    def name(self) -> str:
        """What it is called."""
        return self._figure.name

    @property
    def caption(self) -> str:
        """What to know when looking at it."""
        return self._figure.caption

    def save(self, file: str | PathLike[str]) -> Path:
        """Write it as a PNG or, where the name ends so, as an SVG file."""
        path = Path(file)
        form = path.suffix.removeprefix(".").lower()
        if form not in ("png", "svg"):
            raise ConfigError(f"a chart is saved as .png or .svg, not {path.name!r}")
        write_result(path, self._content(form))
        return path

    def html(self) -> str:
        """Return it as HTML, with its caption."""
        picture = base64.b64encode(self._content("png")).decode()
        style = f"width: {_WIDTH}px; max-width: 100%; background: white"
        return (
            f'<figure style="margin: 1em 0"><img alt="{html.escape(self._figure.chart.title)}" style="{style}" '
            f'src="data:image/png;base64,{picture}"><figcaption><small>{_text(self.caption)}</small></figcaption></figure>'
        )

    def _content(self, form: str) -> bytes:
        if form not in self._contents:
            from scalewise.figures.picture import picture  # loads matplotlib

            self._contents[form] = picture(self._figure.chart, form)
        return self._contents[form]

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return f"<Picture: {self._figure.chart.title}>"


def _table(table: Table) -> str:
    head = "".join(_cell("th", column.name, column.right) for column in table.columns)
    rows = ["".join(_cell("td", *cell) for cell in zip(row, _right(table), strict=True)) for row in table.rows]
    if len(rows) > _MOST_ROWS:
        between = f'<td colspan="{len(table.columns)}"><small>and {len(rows) - _MOST_ROWS:,} rows between</small></td>'
        rows = [*rows[: _MOST_ROWS // 2], between, *rows[-_MOST_ROWS // 2 :]]
    title = f"<p><b>{_text(table.title)}</b></p>" if table.title else ""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _right(table: Table) -> list[bool]:
    return [column.right for column in table.columns]


def _cell(tag: str, text: str, right: bool) -> str:
    return f'<{tag} style="text-align: {"right" if right else "left"}">{_text(text)}</{tag}>'


def _text(text: str) -> str:
    """Return text that shows as itself, whatever is in it; between dollars notebooks would look for a formula."""
    return html.escape(printable(text)).replace("$", "<span>$</span>")
