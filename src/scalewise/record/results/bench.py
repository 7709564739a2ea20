"""bench.json: what a bench was asked for, what it measured, and where."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from scalewise.record.results.file import ResultFile, ResultPart
from scalewise.record.throughput import SpeedSeries, Throughput, speed_series
from scalewise.requests import BenchRequest
from scalewise.words import counted


class Phase(StrEnum):
    """What a worker does during a step."""

    DATA = "data"
    COMPUTE = "forward and backward"
    WAITING = "waiting for the slowest"
    SYNCHRONISATION = "synchronisation"
    UPDATE = "optimizer"


class BenchAsked(ResultPart):
    """What a reader of the results, maybe elsewhere, needs to measure again."""

    workload: str
    workers: tuple[PositiveInt, ...]
    microbatches: tuple[PositiveInt, ...]
    scaling: Literal["weak", "strong"]
    seconds: PositiveFloat
    synthetic: bool
    overrides: tuple[str, ...]
    cluster: str

    @classmethod
    def of(cls, request: BenchRequest) -> "BenchAsked":
        """Keep what decides the result."""
        return cls(**{name: getattr(request, name) for name in cls.model_fields})

    def request(self, out: Path) -> BenchRequest:
        """Return what asks for the same again."""
        return BenchRequest(**{name: getattr(self, name) for name in type(self).model_fields}, out=out)


@dataclass(frozen=True, kw_only=True)
class BenchPoint(Throughput):
    """A point, with its speedup and efficiency."""

    speedup: float
    efficiency: float

    @classmethod
    def of(cls, line: SpeedSeries, point: Throughput) -> "BenchPoint":
        """Compare a point with the others of its line."""
        measured = dataclasses.asdict(point)
        return cls(**measured, speedup=line.speedup(point), efficiency=line.efficiency(point))


@dataclass(frozen=True, kw_only=True)
class Breakdown(Throughput):
    """Where the time of a step goes at one point."""

    phases: tuple[Mapping[Phase, NonNegativeFloat], ...]
    """For each worker, the seconds per step in each phase."""
    verdict: str

    @property
    def throughput(self) -> Throughput:
        """The point alone."""
        return Throughput(**{field.name: getattr(self, field.name) for field in dataclasses.fields(Throughput)})

    @property
    def name(self) -> str:
        """What the point is called."""
        return f"{counted(self.workers, 'worker')}, batch {self.global_batch:,}"


@dataclass(frozen=True)
class Message:
    """An all-reduce of one size."""

    size_bytes: NonNegativeInt
    seconds: NonNegativeFloat


@dataclass(frozen=True)
class NetworkSpeed:
    """Messages of growing sizes between some workers, and what they show about the network."""

    workers: PositiveInt
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]
    latency_seconds: float
    bytes_per_second: float | None
    """None where even the largest message was too small for its size to matter."""

    def __str__(self) -> str:
        speed = "" if self.bytes_per_second is None else f", {self.bytes_per_second / 1e6:,.0f} MB/s"
        largest = self.messages[-1]
        whole = f"{largest.size_bytes:,} bytes, a step's sum, take {1000 * largest.seconds:.2f} ms"
        return f"all-reduce latency {1000 * self.latency_seconds:.2f} ms{speed}; {whole} by messages"


class BenchFile(ResultFile):
    """The whole file."""

    file_name: ClassVar = "bench.json"
    leaves_out_none: ClassVar = False

    asked: BenchAsked | None = None
    """None where figures from elsewhere are shown, and in files from before it was kept."""
    points: tuple[BenchPoint, ...]
    breakdown: tuple[Breakdown, ...]
    network: tuple[NetworkSpeed, ...]
    versions: dict[str, str] = Field(default_factory=dict)
    hardware: dict[str, str | int] = Field(default_factory=dict)
    git_commit: str | None = None
    measured: str | None = None

    def series(self) -> list[SpeedSeries]:
        """Group the points as requested; if that was not recorded, in the way that gives fewer lines."""
        if self.asked is not None:
            return speed_series(self.points, self.asked.scaling == "weak")
        sizes = {point.examples_per_worker for point in self.points}
        return speed_series(self.points, len(sizes) <= len({point.global_batch for point in self.points}))
