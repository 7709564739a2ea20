"""Writes a report as Markdown, with pictures beside it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from scalewise import __version__
from scalewise.figures.table import Table
from scalewise.report.section import ReportSection
from scalewise.words import printable

_BEGINS_A_BLOCK = re.compile(r"^(\d*)([#>]|[-+](?=\s|$)|[-=]{2,}|[.)](?=\s|$))")
"""What would make a heading, a quotation or a list of a line."""


def markdown(sections: Sequence[ReportSection], pictures: str) -> str:
    """Return the whole file; pictures are in a folder beside it."""
    title = f"{sections[0].kind}: {sections[0].title}" if len(sections) == 1 else "Report"
    blocks = [f"# {plain(title)}"]
    for number, section in enumerate(sections, start=1):
        if len(sections) > 1:
            blocks.append(f"## {plain(f'{section.kind}: {section.title}')}")
        blocks += _section(section, f"{pictures}/{number}", "##" if len(sections) == 1 else "###")
    return "\n\n".join([*blocks, f"Made by scalewise {__version__}."]) + "\n"


def plain(text: str) -> str:
    r"""Return text that shows literally, whatever characters are in it.

    >>> print(plain("val/error<0.1 | *new*"), plain("1.5"), plain("1. first"), plain("# first"))
    val/error\<0.1 \| \*new\* 1.5 1\. first \# first
    """
    line = re.sub(r"([\\`*\[\]|<&~$])", r"\\\1", printable(" ".join(text.split())))
    return _BEGINS_A_BLOCK.sub(r"\1\\\2", line)


def _section(section: ReportSection, pictures: str, heading: str) -> Iterator[str]:
    first, *others = section.answer
    yield f"**{plain(first)}**"
    yield from map(plain, others)
    if section.asked:
        yield f"{heading} What was asked"
        yield _facts(section.asked)
    for figure in section.figures:
        yield f"![{plain(figure.chart.title)}]({pictures}_{figure.name}.png)"
        yield plain(figure.caption)
    for table in section.tables:
        yield f"{heading} {plain(table.title)}"
        yield _folded(table) if table.long else _table(table)
    if section.methods:
        yield f"{heading} Methods"
        yield from map(plain, section.methods)
    if section.commands:
        yield f"{heading} How to repeat it"
        yield "\n".join(f"    {printable(line)}" for command in section.commands for line in command.splitlines())
    yield f"{heading} Where it comes from"
    yield _facts({**section.origin, "folder": str(section.folder)})


def _facts(facts: Mapping[str, str]) -> str:
    return "\n".join(f"* {plain(name)}: {plain(text)}" for name, text in facts.items())


def _folded(table: Table) -> str:
    return f"<details><summary>{len(table.rows)} rows</summary>\n\n{_table(table)}\n\n</details>"


def _table(table: Table) -> str:
    head, ends = (
        [plain(column.name) for column in table.columns],
        ["--:" if one.right else ":--" for one in table.columns],
    )
    lines = [head, ends, *([plain(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
