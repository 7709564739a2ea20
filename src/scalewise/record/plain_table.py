"""Reads tables that users write: CSV files; every mistake is reported with its line."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalewise.errors import DataError, nearest


@dataclass(frozen=True)
class Row:
    """One row, and where it is."""

    where: str
    cells: dict[str, str]

    def positive(self, name: str, whole: bool = False) -> float:
        """Return a cell that must hold a positive number."""
        text = self.cells.get(name) or ""
        try:
            value = float(text)
        except ValueError:
            raise DataError(f"{self.where}: {name}={text!r} is not a number") from None
        if not 0 < value < float("inf") or (whole and value != int(value)):
            raise DataError(f"{self.where}: {name}={text} should be a positive {'whole ' * whole}number")
        return value

    def positive_or_none(self, name: str) -> float | None:
        """Return a cell that may be empty."""
        return self.positive(name) if self.cells.get(name) else None

    def truth(self, name: str) -> bool:
        """Return a cell that must say yes or no."""
        text = (self.cells.get(name) or "").strip().lower()
        if text not in ("1", "true", "yes", "0", "false", "no"):
            raise DataError(f"{self.where}: {name}={text!r} should be true or false")
        return text in ("1", "true", "yes")


def read_rows(file: Path, required: Sequence[str], optional: Sequence[str] = ()) -> list[Row]:
    """Read a table that has some columns, maybe others, no unknown ones, and at least one row."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {file}: {error}") from None
    reader = csv.DictReader(io.StringIO(text))
    if missing := [name for name in required if name not in (reader.fieldnames or [])]:
        raise DataError(f"{file} has no column {missing[0]!r}; it needs {', '.join(required)}")
    known = (*required, *optional)
    if unknown := [name for name in reader.fieldnames or [] if name not in known]:
        hint = nearest(unknown[0], known) or f"; it may have {', '.join(known)}"
        raise DataError(f"{file} has an unknown column {unknown[0]!r}{hint}")
    rows = list(_rows(reader, file))
    if not rows:
        raise DataError(f"{file} has no rows")
    return rows


def _rows(reader: "csv.DictReader[str]", file: Path) -> Iterator[Row]:
    for row in reader:
        yield Row(f"{file}, line {reader.line_num}", {name: cell for name, cell in row.items() if name and cell})
