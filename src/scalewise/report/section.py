"""What a report is made of: sections, each with its charts and tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scalewise.figures.figure import Figure
from scalewise.figures.table import Table, texts

NEW = Path("NEW")
"""The placeholder in a command for a folder that the reader chooses."""


def facts_table(title: str, facts: Mapping[str, str]) -> Table:
    """Return names and values as a table."""
    return Table(title, texts("", ""), list(facts.items()))


@dataclass(frozen=True)
class ReportSection:
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
