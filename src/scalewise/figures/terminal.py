"""Writes tables into a terminal."""

import sys

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from scalewise.figures.table import Table
from scalewise.words import printable

_PIPE_WIDTH = 200
"""The width for a pipe, which has none: wide enough for whole words."""


def print_tables(*tables: Table) -> None:
    """Print tables to standard output, a blank line between them."""
    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    for number, table in enumerate(tables):
        if number:
            console.print()
        if table.title:
            console.print(shown(table.title), style="italic")
        console.print(rendered(table))


def rendered(table: Table) -> RichTable:
    """Return a table as Rich draws it."""
    found = RichTable(box=None, header_style="bold", pad_edge=False)
    for column in table.columns:
        found.add_column(shown(column.name), justify="right" if column.right else "left")
    for row in table.rows:
        found.add_row(*map(shown, row))
    return found


def shown(text: str) -> Text:
    """Return text that shows literally: square brackets are not markup, and nothing controls the terminal."""
    return Text(printable(text))
