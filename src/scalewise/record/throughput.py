"""The throughput file: seconds per step by cluster, workers and global batch, measured here or elsewhere."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, PositiveInt

from scalewise.record.plain_table import Row, read_rows
from scalewise.storage import write_result

FILE_NAME = "throughput.csv"
_REQUIRED = ("cluster", "workers", "global_batch", "step_seconds")
_OPTIONAL = ("low", "high", "workers_per_node", "microbatch")
_DERIVED = "examples_per_second"

_Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Throughput:
    """The speed of one point."""

    cluster: str
    workers: PositiveInt
    global_batch: PositiveInt
    step_seconds: _Seconds
    low: _Seconds | None = None
    high: _Seconds | None = None
    workers_per_node: PositiveInt | None = None
    microbatch: PositiveInt | None = None

    @property
    def examples_per_second(self) -> float:
        """How many examples go through per second."""
        return self.global_batch / self.step_seconds

    @property
    def examples_per_worker(self) -> float:
        """How many examples of a step each worker has."""
        return self.global_batch / self.workers


@dataclass(frozen=True)
class SpeedSeries:
    """Points that belong to one line of a scaling chart, by their number of workers."""

    name: str
    points: tuple[Throughput, ...]

    def speedup(self, point: Throughput) -> float:
        """Return how much faster it is than one worker of the smallest group."""
        first = self.points[0]
        return point.examples_per_second / (first.examples_per_second / first.workers)

    def efficiency(self, point: Throughput) -> float:
        """Return the speedup per worker."""
        return self.speedup(point) / point.workers


def speed_series(points: Iterable[Throughput], weak: bool) -> list[SpeedSeries]:
    """Group points: by cluster and examples per worker (weak scaling), or by cluster and global batch (strong)."""
    groups: dict[tuple[str, float], list[Throughput]] = {}
    for point in points:
        size = point.examples_per_worker if weak else point.global_batch
        groups.setdefault((point.cluster, size), []).append(point)
    what = "per worker" if weak else "in all"
    return [
        SpeedSeries(f"{cluster}, {size:g} {what}", tuple(sorted(group, key=lambda point: point.workers)))
        for (cluster, size), group in groups.items()
    ]


def read_throughput(file: Path) -> list[Throughput]:
    """Read a throughput file; every mistake in it is reported with its line."""
    return [_point(row) for row in read_rows(file, _REQUIRED, (*_OPTIONAL, _DERIVED))]


def _point(row: Row) -> Throughput:
    workers_per_node, microbatch = (row.positive_or_none(name) for name in ("workers_per_node", "microbatch"))
    return Throughput(
        cluster=row.cells.get("cluster", ""),
        workers=int(row.positive("workers", whole=True)),
        global_batch=int(row.positive("global_batch", whole=True)),
        step_seconds=row.positive("step_seconds"),
        low=row.positive_or_none("low"),
        high=row.positive_or_none("high"),
        workers_per_node=None if workers_per_node is None else int(workers_per_node),
        microbatch=None if microbatch is None else int(microbatch),
    )


def throughput_in(folder: Path) -> list[Throughput]:
    """Read the throughput file of a bench."""
    return read_throughput(throughput_file(folder))


def throughput_file(folder: Path) -> Path:
    """Say where a bench leaves its throughput file."""
    return folder / FILE_NAME


def write_throughput(folder: Path, points: Sequence[Throughput]) -> None:
    """Write the throughput file of a bench, whole or not at all."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_REQUIRED, *_OPTIONAL, _DERIVED])
    for point in points:
        values = [getattr(point, name) for name in (*_REQUIRED, *_OPTIONAL)]
        writer.writerow(["" if value is None else value for value in values] + [round(point.examples_per_second, 3)])
    write_result(folder / FILE_NAME, stream.getvalue().encode())
