"""Writes a report as one HTML page that needs nothing else: no network, no other file."""

import base64
import hashlib
import html
import json
import string
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from scalewise import __version__
from scalewise.charts import COLOURS
from scalewise.record.provenance import now
from scalewise.report.section import Figure, Section, Table

_SHORT = 30
"""Below so many letters the name of a row stays on one line."""


def page(sections: Sequence[Section]) -> str:
    """Return the whole page."""
    title = f"{sections[0].kind}: {sections[0].title}" if len(sections) == 1 else "Report"
    style, script = _colours() + _resource("page.css"), _resource("page.js")
    return string.Template(_resource("page.html")).substitute(
        title=html.escape(title),
        policy=_policy(style, script),
        style=style,
        script=script,
        contents=_contents(sections),
        sections="\n".join(_section(number, section) for number, section in enumerate(sections, start=1)),
        made=html.escape(f"Made by scalewise {__version__}, {now()}."),
    )


def _resource(name: str) -> str:
    return files("scalewise.report").joinpath(name).read_text(encoding="utf-8")


def _colours() -> str:
    """Return the colours of all charts, for the style to darken or lighten."""
    return "".join(f".hue-{number} {{ --hue: {colour}; }}\n" for number, colour in enumerate(COLOURS))


def _policy(style: str, script: str) -> str:
    """Allow this page's own style and script and nothing else: whatever a file smuggles in does not run."""
    own = f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) == 1:
        return ""
    items = [
        f'<li><a href="#section-{number}">{html.escape(f"{section.kind}: {section.title}")}</a></li>'
        for number, section in enumerate(sections, start=1)
    ]
    return f'<nav aria-label="Contents"><ol>{"".join(items)}</ol></nav>'


def _section(number: int, section: Section) -> str:
    return "\n".join(
        [
            f'<section id="section-{number}" aria-labelledby="title-{number}">',
            f'<p class="kind">{html.escape(section.kind)}</p>',
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
    return (f"<p>{html.escape(text)}</p>" for text in texts)


def _asked(section: Section) -> list[str]:
    return ["<h3>What was asked</h3>", _facts(section.asked)] if section.asked else []


def _facts(facts: Mapping[str, str]) -> str:
    pairs = (f"<div><dt>{html.escape(name)}</dt><dd>{_breakable(text)}</dd></div>" for name, text in facts.items())
    return f'<dl class="facts">{"".join(pairs)}</dl>'


def _figures(figures: Sequence[Figure]) -> list[str]:
    return [f'<div class="charts">{"".join(map(_figure, figures))}</div>'] if figures else []


def _figure(figure: Figure) -> str:
    return (
        f'<figure class="chart" data-name="{html.escape(figure.name)}">'
        f'<h3>{html.escape(figure.chart.title)}</h3><div class="legend"></div><div class="plot"></div>'
        f"<figcaption>{html.escape(figure.caption)}</figcaption>"
        f'<script type="application/json">{_data(figure)}</script></figure>'
    )


def _data(figure: Figure) -> str:
    """Return a chart as JSON that cannot end the element it is in."""
    content = json.dumps(figure.chart.content(), allow_nan=False, separators=(",", ":"))
    return content.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _table_block(table: Table) -> str:
    if not table.long:
        return f"<h3>{html.escape(table.title)}</h3>{_table(table)}"
    summary = f"<summary>{html.escape(table.title)}: {len(table.rows):,} rows</summary>"
    return f"<details>{summary}{_table(table)}</details>"


def _table(table: Table) -> str:
    head = "".join(_cell("th", column, table, index) for index, column in enumerate(table.columns))
    rows = ("".join(_cell("td", cell, table, index) for index, cell in enumerate(row)) for row in table.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    header = f"<thead><tr>{head}</tr></thead>" if any(table.columns) else ""
    # A table that is wider than the screen scrolls by itself, also by the keyboard.
    attributes = f'class="scroll" tabindex="0" role="region" aria-label="{html.escape(table.title)}"'
    return f"<div {attributes}><table>{header}<tbody>{body}</tbody></table></div>"


def _cell(name: str, text: str, table: Table, column: int) -> str:
    scope = ' scope="col"' if name == "th" else ""
    kind = "number" if table.ends_right(column) else "short" if column == 0 and len(text) < _SHORT else ""
    side = f' class="{kind}"' if kind else ""
    return f"<{name}{scope}{side}>{_breakable(text)}</{name}>"


def _breakable(text: str) -> str:
    """Return text that a narrow column breaks where names have joints."""
    return html.escape(text).replace("/", "/<wbr>").replace("_", "_<wbr>")


def _methods(section: Section) -> list[str]:
    return ["<h3>Methods</h3>", *_paragraphs(section.methods)] if section.methods else []


def _origin(section: Section) -> list[str]:
    commands = [f'<pre tabindex="0"><code>{html.escape(command)}</code></pre>' for command in section.commands]
    repeat = ["<h3>How to repeat it</h3>", *commands] if commands else []
    return [*repeat, "<h3>Where it comes from</h3>", _facts({**section.origin, "folder": str(section.folder)})]
