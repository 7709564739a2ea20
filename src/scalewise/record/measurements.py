"""The table of measurements: one row per evaluation, each on the disk before training continues."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from scalewise.errors import FolderError
from scalewise.storage import Store

MEASUREMENTS = "measurements.csv"


@dataclass(frozen=True)
class Measurements:
    """`measurements.csv`: the column `step`, then one column per split/metric."""

    store: Store

    def append(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add one row."""
        if self.store.exists(MEASUREMENTS):
            self.store.append(MEASUREMENTS, _lines([[step, *metrics.values()]]))
        else:
            self.store.write(MEASUREMENTS, as_table([(step, metrics)]))

    def rows(self) -> list[tuple[int, dict[str, float]]]:
        """Read every whole row: its step and its metrics."""
        with self._as_damaged():
            header, *rows = _table((self.store.read(MEASUREMENTS) or b"").decode())
            return [_measurement(header, row) for row in rows if len(row) == len(header)]

    def keep_until(self, step: int) -> tuple[int, dict[str, float]] | None:
        """Drop rows after a step, and a last row that was cut short; return the last row that is left."""
        if (written := self.store.read(MEASUREMENTS)) is None:
            return None
        with self._as_damaged():
            content = written.decode()
            whole = content[: content.rfind("\n") + 1]
            header, *rows = _table(content)
            kept = [row for row in rows if len(row) == len(header) and int(row[0]) <= step]
            last = _measurement(header, kept[-1]) if kept else None
        if kept != rows or whole != content:
            self.store.write(MEASUREMENTS, _lines([header, *kept]))
        return last

    @contextmanager
    def _as_damaged(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, IndexError, csv.Error) as error:
            raise FolderError(f"{self.store.address(MEASUREMENTS)} is damaged and cannot be read: {error}") from None


def as_table(rows: Sequence[tuple[int, Mapping[str, float]]]) -> bytes:
    """Return the whole file for some rows."""
    header = ["step", *rows[0][1]] if rows else ["step"]
    return _lines([header, *([step, *metrics.values()] for step, metrics in rows)])


def _table(content: str) -> list[list[str]]:
    """Read the header and the rows that end with their line."""
    return list(csv.reader(io.StringIO(content[: content.rfind("\n") + 1]))) or [["step"]]


def _measurement(header: list[str], row: list[str]) -> tuple[int, dict[str, float]]:
    return int(row[0]), dict(zip(header[1:], map(float, row[1:]), strict=True))


def _lines(rows: Sequence[Sequence[object]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()
