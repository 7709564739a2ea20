"""The throughput file: seconds per step by cluster, workers and global batch, measured here or elsewhere."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scalewise.errors import DataError
from scalewise.record.atomic import write_result

_REQUIRED = ("cluster", "workers", "global_batch", "step_seconds")
_OPTIONAL = ("low", "high", "workers_per_node", "microbatch")


@dataclass(frozen=True)
class Throughput:
    """The speed of one point."""

    cluster: str
    workers: int
    global_batch: int
    step_seconds: float
    low: float | None = None
    high: float | None = None
    workers_per_node: int | None = None
    microbatch: int | None = None

    @property
    def examples_per_second(self) -> float:
        """How many examples go through per second."""
        return self.global_batch / self.step_seconds

    @property
    def examples_per_worker(self) -> float:
        """How many examples of a step each worker has."""
        return self.global_batch / self.workers


@dataclass(frozen=True)
class Series:
    """Points that belong to one line of a scaling chart, by their number of workers."""

    name: str
    points: tuple[Throughput, ...]

    def speedup(self, point: Throughput) -> float:
        """Return how much faster than the smallest number of workers, as if that were as many single ones."""
        first = self.points[0]
        return point.examples_per_second / (first.examples_per_second / first.workers)

    def efficiency(self, point: Throughput) -> float:
        """Return the speedup per worker."""
        return self.speedup(point) / point.workers


def series(points: Iterable[Throughput], weak: bool) -> list[Series]:
    """Group points: by cluster and examples per worker (weak scaling), or by cluster and global batch (strong)."""
    groups: dict[tuple[str, float], list[Throughput]] = {}
    for point in points:
        size = point.examples_per_worker if weak else point.global_batch
        groups.setdefault((point.cluster, size), []).append(point)
    what = "per worker" if weak else "in all"
    return [
        Series(f"{cluster}, {size:g} {what}", tuple(sorted(group, key=lambda point: point.workers)))
        for (cluster, size), group in groups.items()
    ]


def read_throughput(file: Path) -> list[Throughput]:
    """Read a throughput file; every mistake in it is told with its line."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {file}: {error}") from None
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in _REQUIRED if name not in (reader.fieldnames or [])]
    if missing:
        raise DataError(f"{file} has no column {missing[0]!r}; it needs {', '.join(_REQUIRED)}")
    points = [_point(row, f"{file}, line {line}") for line, row in enumerate(reader, start=2)]
    if not points:
        raise DataError(f"{file} has no rows")
    return points


def _point(row: dict[str, str], where: str) -> Throughput:
    return Throughput(
        cluster=row["cluster"],
        workers=int(_positive(row, "workers", where, whole=True)),
        global_batch=int(_positive(row, "global_batch", where, whole=True)),
        step_seconds=_positive(row, "step_seconds", where),
        low=_positive(row, "low", where) if row.get("low") else None,
        high=_positive(row, "high", where) if row.get("high") else None,
        workers_per_node=int(_positive(row, "workers_per_node", where)) if row.get("workers_per_node") else None,
        microbatch=int(_positive(row, "microbatch", where)) if row.get("microbatch") else None,
    )


def _positive(row: dict[str, str], name: str, where: str, whole: bool = False) -> float:
    text = row.get(name) or ""
    try:
        value = float(text)
    except ValueError:
        raise DataError(f"{where}: {name}={text!r} is not a number") from None
    if not 0 < value < float("inf") or (whole and value != int(value)):
        raise DataError(f"{where}: {name}={text} should be a positive {'whole ' * whole}number")
    return value


def write_throughput(file: Path, points: Sequence[Throughput]) -> None:
    """Write a throughput file, whole or not at all."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_REQUIRED, *_OPTIONAL, "examples_per_second"])
    for point in points:
        values = [getattr(point, name) for name in (*_REQUIRED, *_OPTIONAL)]
        writer.writerow(["" if value is None else value for value in values] + [round(point.examples_per_second, 3)])
    write_result(file, stream.getvalue().encode())
