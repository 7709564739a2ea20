"""What a report is made of: sections, and the tables and figures in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure as Drawing
from rich.table import Table as TerminalTable

from scalewise.report.chart import Chart

_LONG_ROWS = 24
NEW = Path("NEW")
"""Stands in a command for a folder that its reader chooses."""


@dataclass(frozen=True)
class Table:
    """A table; its first column is text, the others mostly numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool] = ()
    """Which columns end on the right: by default all but the first."""

    @property
    def long(self) -> bool:
        """Whether a reader should ask for it first."""
        return len(self.rows) > _LONG_ROWS

    def ends_right(self, column: int) -> bool:
        """Say whether a column ends on the right."""
        return self.right[column] if self.right else column > 0


def as_table(title: str, table: TerminalTable) -> Table:
    """Return a table that was made for a terminal."""
    columns = [str(column.header) for column in table.columns]
    rows = list(zip(*(map(str, column.cells) for column in table.columns), strict=True))
    return Table(title, columns, rows, [column.justify == "right" for column in table.columns])


def facts_table(title: str, facts: Mapping[str, str]) -> Table:
    """Return names and values as a table."""
    return Table(title, ("", ""), list(facts.items()), (False, False))


@dataclass(frozen=True)
class Figure:
    """A chart: interactive in the page, and a picture elsewhere."""

    name: str
    caption: str
    chart: Chart
    drawing: Drawing


@dataclass(frozen=True)
class Section:
    """What one folder says."""

    kind: str
    title: str
    folder: Path
    answer: Sequence[str]
    """Whole sentences; the first is the one to remember."""
    asked: Mapping[str, str]
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    methods: Sequence[str] = ()
    commands: Sequence[str] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    """Versions, hardware, seeds, times, as far as they were recorded."""
