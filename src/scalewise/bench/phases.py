"""Times the phases of a step, without timing code in the step itself.

A step's feed and total are wrapped with a timer. All time between two stops of the timer belongs to a phase, so the
phases of a step add up to its whole time.
"""

import dataclasses
import time
from collections.abc import Callable

import torch
from torch import Tensor

from scalewise.data.splits import Split
from scalewise.loop.feed import Feed
from scalewise.loop.step import Parts, take_step
from scalewise.loop.total import Total
from scalewise.loop.votes import Votes
from scalewise.record.results.bench import Phase


class Stopwatch:
    """Adds up the time of each phase."""

    def __init__(self, device: torch.device) -> None:
        self._finish_kernels: Callable[[], None] = torch.cuda.synchronize if device.type == "cuda" else lambda: None
        self.seconds = dict.fromkeys(Phase, 0.0)
        self._since = time.perf_counter()

    def start(self) -> None:
        """Begin to count."""
        self._finish_kernels()
        self._since = time.perf_counter()

    def stop(self, phase: Phase) -> None:
        """Give the time since the last stop to a phase."""
        self._finish_kernels()
        now = time.perf_counter()
        self.seconds[phase] += now - self._since
        self._since = now


@dataclasses.dataclass(frozen=True)
class WatchedFeed(Feed):
    """Feeds, and counts that as data."""

    watch: Stopwatch

    def microbatch(self, step: int, index: int) -> Split:
        """Return the examples."""
        self.watch.stop(Phase.COMPUTE)
        examples = super().microbatch(step, index)
        self.watch.stop(Phase.DATA)
        return examples


class WatchedTotal(Total):
    """Adds up, and separates waiting for the slowest worker from the sum itself."""

    def __init__(self, total: Total, watch: Stopwatch) -> None:
        self._total, self._watch = total, watch
        self.vector, self.pieces = total.vector, total.pieces

    def expect(self, microbatch: int) -> None:
        """Note which microbatch is computed next."""
        self._total.expect(microbatch)

    def add(self, microbatch: int, contribution: list[Tensor]) -> None:
        """Add one microbatch."""
        self._total.add(microbatch, contribution)

    def finish(self) -> None:
        """Add up the workers, after all of them have reached this point."""
        self._watch.stop(Phase.COMPUTE)
        self._total.wait_for_all()
        self._watch.stop(Phase.WAITING)
        self._total.finish()
        self._watch.stop(Phase.SYNCHRONISATION)


def without_barrier(phases: list[dict[Phase, float]]) -> list[dict[Phase, float]]:
    """Separate waiting for another worker from the cost of synchronising at all, which the slowest worker also has.

    >>> workers = [{Phase.WAITING: 5.0, Phase.SYNCHRONISATION: 2.0}, {Phase.WAITING: 1.0, Phase.SYNCHRONISATION: 2.0}]
    >>> [tuple(worker.values()) for worker in without_barrier(workers)]
    [(4.0, 3.0), (0.0, 3.0)]
    """
    meeting = min(worker[Phase.WAITING] for worker in phases)
    return [
        {
            **worker,
            Phase.WAITING: worker[Phase.WAITING] - meeting,
            Phase.SYNCHRONISATION: worker[Phase.SYNCHRONISATION] + meeting,
        }
        for worker in phases
    ]


def seconds_by_phase(parts: Parts, steps: int) -> dict[Phase, float]:
    """Take some steps; return the seconds per step that this worker spent in each phase."""
    watch = Stopwatch(parts.state.weights.vector.device)
    fields = {field.name: getattr(parts.feed, field.name) for field in dataclasses.fields(parts.feed)}
    feed = WatchedFeed(**fields, watch=watch)
    watched = dataclasses.replace(parts, feed=feed, total=WatchedTotal(parts.total, watch))
    parts.total.wait_for_all()
    watch.start()
    for _ in range(steps):
        take_step(watched, Votes)
        watch.stop(Phase.UPDATE)
    return {phase: seconds / steps for phase, seconds in watch.seconds.items()}
