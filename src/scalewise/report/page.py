"""Writes a report as one HTML page that needs nothing else: no network, no other file."""

import base64
import hashlib
import html
import json
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from scalewise import __version__
from scalewise.figures.bars import Bars
from scalewise.figures.figure import Chart, Figure
from scalewise.figures.looks import COLOURS
from scalewise.figures.plot import Panels
from scalewise.figures.table import Column, Table
from scalewise.record.provenance import now
from scalewise.report.section import ReportSection
from scalewise.words import printable

_SHORT = 30
"""Names of rows shorter than this stay on one line."""
_MOST_PANELS = 12
"""How many plots are shown side by side at most."""


def page(sections: Sequence[ReportSection]) -> str:
    """Return the whole page."""
    title = f"{sections[0].kind}: {sections[0].title}" if len(sections) == 1 else "Report"
    style, script = _colours() + _resource("page.css"), _resource("page_plot.js") + _resource("page.js")
    return string.Template(_resource("page.html")).substitute(
        title=_shown(title),
        policy=_policy(style, script),
        style=style,
        script=script,
        contents=_contents(sections),
        sections="\n".join(_section(number, section) for number, section in enumerate(sections, start=1)),
        made=_shown(f"Made by scalewise {__version__}, {now()}."),
    )


def _shown(text: str) -> str:
    """Return text that a page shows literally."""
    return html.escape(printable(text))


def _resource(name: str) -> str:
    return files("scalewise.report").joinpath(name).read_text(encoding="utf-8")


def _colours() -> str:
    """Return the colours of all charts, for the style to darken or lighten."""
    return "".join(f".hue-{number} {{ --hue: {colour}; }}\n" for number, colour in enumerate(COLOURS))


def _policy(style: str, script: str) -> str:
    """Allow this page's own style and script and nothing else: a script in a result file does not run."""
    own = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _contents(sections: Sequence[ReportSection]) -> str:
    if len(sections) == 1:
        return ""
    items = [
        f'<li><a href="#section-{number}">{_shown(f"{section.kind}: {section.title}")}</a></li>'
        for number, section in enumerate(sections, start=1)
    ]
    return f'<nav aria-label="Contents"><ol>{"".join(items)}</ol></nav>'


def _section(number: int, section: ReportSection) -> str:
    return "\n".join(
        [
            f'<section id="section-{number}" aria-labelledby="title-{number}">',
            f'<p class="kind">{_shown(section.kind)}</p>',
            f'<h2 id="title-{number}">{_breakable(section.title)}</h2>',
            f'<div class="answer">{"".join(_paragraphs(section.answer))}</div>',
            *_asked(section),
            *_figures(section.figures),
            *map(_table_block, section.tables),
            *_methods(section),
            *_origin(section),
            "</section>",
        ]
    )


def _paragraphs(texts: Sequence[str]) -> Iterator[str]:
    return (f"<p>{_shown(text)}</p>" for text in texts)


def _asked(section: ReportSection) -> list[str]:
    return ["<h3>What was asked</h3>", _facts(section.asked)] if section.asked else []


def _facts(facts: Mapping[str, str]) -> str:
    pairs = (f"<div><dt>{_shown(name)}</dt><dd>{_breakable(text)}</dd></div>" for name, text in facts.items())
    return f'<dl class="facts">{"".join(pairs)}</dl>'


def _figures(figures: Sequence[Figure]) -> list[str]:
    return [f'<div class="charts">{"".join(map(_figure, figures))}</div>'] if figures else []


def _figure(figure: Figure) -> str:
    return (
        f'<figure class="chart" data-name="{_shown(figure.name)}">'
        f'<h3>{_shown(figure.chart.title)}</h3><div class="legend"></div><div class="plot"></div>'
        f"<figcaption>{_shown(_caption(figure))}</figcaption>"
        f'<script type="application/json">{_data(figure)}</script></figure>'
    )


def _data(figure: Figure) -> str:
    """Return a chart as JSON that cannot end the element it is in."""
    content = json.dumps(_content(figure.chart), allow_nan=False, separators=(",", ":"))
    return content.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _content(chart: Chart) -> dict[str, Any]:
    """Return a chart as page.js takes it."""
    if isinstance(chart, Bars):
        return {"kind": "bars", **asdict(chart)}
    plots = chart.plots[:_MOST_PANELS] if isinstance(chart, Panels) else (chart,)
    return {"kind": "plots", "title": chart.title, "plots": [asdict(plot.drawable()) for plot in plots]}


def _caption(figure: Figure) -> str:
    count = len(figure.chart.plots) if isinstance(figure.chart, Panels) else 1
    return (
        figure.caption if count <= _MOST_PANELS else f"{figure.caption} The first {_MOST_PANELS} of {count} are shown."
    )


def _table_block(table: Table) -> str:
    if not table.long:
        return f"<h3>{_shown(table.title)}</h3>{_table(table)}"
    summary = f"<summary>{_shown(table.title)}: {len(table.rows):,} rows</summary>"
    return f"<details>{summary}{_table(table)}</details>"


def _table(table: Table) -> str:
    header = f"<thead>{_row('th', table, [column.name for column in table.columns])}</thead>"
    header = header if any(column.name for column in table.columns) else ""
    body = "".join(_row("td", table, row) for row in table.rows)
    # A table that is wider than the screen scrolls by itself, also by the keyboard.
    attributes = f'class="scroll" tabindex="0" role="region" aria-label="{_shown(table.title)}"'
    return f"<div {attributes}><table>{header}<tbody>{body}</tbody></table></div>"


def _row(name: str, table: Table, cells: Sequence[str]) -> str:
    found = [
        _cell(name, text, column, index == 0)
        for index, (text, column) in enumerate(zip(cells, table.columns, strict=True))
    ]
    return f"<tr>{''.join(found)}</tr>"


def _cell(name: str, text: str, column: Column, first: bool) -> str:
    scope = ' scope="col"' if name == "th" else ""
    kind = "number" if column.right else "short" if first and len(text) < _SHORT else ""
    side = f' class="{kind}"' if kind else ""
    return f"<{name}{scope}{side}>{_breakable(text)}</{name}>"


def _breakable(text: str) -> str:
    """Return text that a narrow column can break between the parts of a name."""
    return _shown(text).replace("/", "/<wbr>").replace("_", "_<wbr>")


def _methods(section: ReportSection) -> list[str]:
    return ["<h3>Methods</h3>", *_paragraphs(section.methods)] if section.methods else []


def _origin(section: ReportSection) -> list[str]:
    commands = [f'<pre tabindex="0"><code>{_shown(command)}</code></pre>' for command in section.commands]
    repeat = ["<h3>How to repeat it</h3>", *commands] if commands else []
    return [*repeat, "<h3>Where it comes from</h3>", _facts({**section.origin, "folder": str(section.folder)})]
