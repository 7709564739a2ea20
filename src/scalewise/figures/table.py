"""What a table shows, independent of how it is written."""

from collections.abc import Sequence
from dataclasses import dataclass

_LONG_ROWS = 24


@dataclass(frozen=True)
class Column:
    """The head of a column, and the side on which its cells are aligned."""

    name: str
    right: bool


@dataclass(frozen=True)
class Table:
    """Rows of cells that are already formatted; renderers do not change a digit."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), f"{self.title}: a row has other columns"

    @property
    def long(self) -> bool:
        """Whether a page shows it only on request."""
        return len(self.rows) > _LONG_ROWS


def texts(*names: str) -> list[Column]:
    """Return columns of words."""
    return [Column(name, right=False) for name in names]


def numbers(*names: str) -> list[Column]:
    """Return columns of numbers, which are compared from the right."""
    return [Column(name, right=True) for name in names]
