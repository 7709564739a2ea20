"""Measures one point, workers and batch, in every worker of its group."""

import dataclasses
import functools
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from scalewise.bench.medians import Median, median
from scalewise.bench.phases import seconds_by_phase, without_barrier
from scalewise.bench.points import Point
from scalewise.cluster.collectives import gather_values
from scalewise.cluster.world import World
from scalewise.data.splits import Split
from scalewise.loop.source import ExampleSource
from scalewise.loop.step import Parts, take_step
from scalewise.loop.votes import Votes
from scalewise.record.results.bench import Phase
from scalewise.requests import BenchRequest
from scalewise.run.build import build_loop
from scalewise.storage import write_result
from scalewise.workloads import Workload

_WARM_UP_STEPS = 3
_ROUNDS = 20
_LEAST_ROUNDS = 10
_NARROW = 0.02
_PHASE_SHARE = 0.25
_TRACED_STEPS = 3


@dataclass(frozen=True)
class MeasuredPoint:
    """The speed of one point."""

    step_seconds: Median
    rounds: int
    phases: list[dict[Phase, float]]
    """For each worker, the seconds per step in each phase."""
    summed_values: int
    """How many numbers the workers add up in a step."""


class SyntheticSource(ExampleSource):
    """The same examples in every microbatch: the time of a step without reading data."""

    def microbatch(self, step: int, index: int) -> Split:
        """Return the first examples."""
        size = self.batch.size(index)
        if size not in self._read:
            self._read[size] = self.examples.part(0, size)
        return self._read[size]

    @functools.cached_property
    def _read(self) -> dict[int, Split]:
        return {}


class Rounds:
    """Times rounds of steps until the median is well known or the time is up; only the chief decides that."""

    def __init__(self, seconds: float, steps_per_round: int, chief: bool) -> None:
        self._steps_per_round, self._chief, self._taken = steps_per_round, chief, 0
        self._round_began = time.perf_counter()
        self._deadline = self._round_began + seconds
        self.samples: list[float] = []

    def took_step(self) -> None:
        """Count a step; the last one of a round makes a sample."""
        self._taken += 1
        if self._taken % self._steps_per_round == 0:
            now = time.perf_counter()
            self.samples.append((now - self._round_began) / self._steps_per_round)
            self._round_began = now

    def votes(self) -> Votes:
        """Vote for the end when enough is known."""
        return Votes(out_of_time=self._chief and bool(self.samples) and (self._known() or self._over()))

    def _known(self) -> bool:
        return len(self.samples) >= _LEAST_ROUNDS and median(self.samples).width < _NARROW

    def _over(self) -> bool:
        return time.perf_counter() > self._deadline


def measure(
    request: BenchRequest, point: Point, workload: Workload, world: World, device: torch.device
) -> MeasuredPoint:
    """Measure the throughput and then, in separate steps, where the time goes."""
    parts = build_loop(point.config, workload, world, device, lambda: False).parts
    if request.synthetic:
        source = parts.feed.source
        synthetic = SyntheticSource(source.examples, source.order, source.batch)
        parts = dataclasses.replace(parts, feed=dataclasses.replace(parts.feed, source=synthetic))
    step_seconds = warm_up(parts)
    samples = take_rounds(parts, request.seconds * (1 - _PHASE_SHARE), step_seconds, world.chief)
    phase_steps = max(2, round(request.seconds * _PHASE_SHARE / step_seconds))
    of_workers = gather_values(seconds_by_phase(parts, phase_steps))
    phases = without_barrier([{Phase(name): each for name, each in worker.items()} for worker in of_workers])
    if request.trace:
        _trace(parts, request.out / f"trace-{point.workers}-{point.config.recipe.microbatch}-worker{world.rank}.json")
    return MeasuredPoint(median(samples), len(samples), phases, len(parts.total.vector))


def warm_up(parts: Parts) -> float:
    """Take the first steps, which are slow; return the time of a step, the same on every worker."""
    for _ in range(_WARM_UP_STEPS):
        started = time.perf_counter()
        take_step(parts, Votes)
        seconds = time.perf_counter() - started
    return float(max(gather_values(seconds)))


def take_rounds(parts: Parts, seconds: float, step_seconds: float, chief: bool) -> list[float]:
    """Take steps until enough is known; return the seconds per step of every round."""
    rounds = Rounds(seconds, max(1, round(seconds / _ROUNDS / step_seconds)), chief)
    ended = False
    while not ended:
        ended = take_step(parts, rounds.votes).votes.out_of_time
        rounds.took_step()
    return rounds.samples


def _trace(parts: Parts, file: Path) -> None:
    """Record a few steps for chrome://tracing or Perfetto."""
    with torch.profiler.profile() as profiler:
        for _ in range(_TRACED_STEPS):
            take_step(parts, Votes)
    with tempfile.TemporaryDirectory(prefix="scalewise-trace-") as folder:
        exported = Path(folder) / file.name
        profiler.export_chrome_trace(str(exported))
        write_result(file, exported.read_bytes())
