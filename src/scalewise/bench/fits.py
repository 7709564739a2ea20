"""Finds the largest microbatch that fits into memory, without ever using more than there is.

Memory grows linearly with the microbatch. Sizes are doubled as long as the line predicts that the next one fits; the
largest is where the line reaches what a worker may use. On a GPU, a size that does not fit raises an error; on a CPU
the system would kill the process, so no size is tried that may not fit. Each size is tried several times from a clean
start, because fragmentation after one round makes the next one need more.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from scalewise.bench.measure import SyntheticSource
from scalewise.cluster.collectives import gather_values
from scalewise.cluster.machine_memory import free_memory, give_freed_memory_back
from scalewise.cluster.world import World
from scalewise.errors import ConfigError
from scalewise.loop.step import Parts, contribution
from scalewise.loop.votes import Votes
from scalewise.recipe.batch import Batch

_SMALLEST = 16
_SHARE = 0.85
"""How much of the free memory a search may plan with."""

_CLOSE = 1.05
"""By which factor a size must be larger to be tried."""

_ROUNDS = 3

Tried = tuple[int, float]
"""A microbatch, and the bytes that it took at most, beyond what was in use before."""


def largest_microbatch(parts: Parts, most: int, world: World) -> int:
    """Find the largest microbatch up to `most` that fits on every worker; all workers call it together."""
    device = parts.state.weights.vector.device
    memory = _Gpu(device) if device.type == "cuda" else _Machine()
    share = _SHARE if device.type == "cuda" else _SHARE / world.local_workers
    allowed, in_use = min(gather_values(share * memory.free())), memory.in_use()
    tried: list[Tried] = []
    size = min(_SMALLEST, most)
    while not tried or size > _CLOSE * tried[-1][0]:
        peak = memory.peak_of(functools.partial(_go_through, parts, size))
        needed = gather_values(None if peak is None else peak - in_use)
        if None in needed:
            break
        tried.append((size, max(needed)))
        size = next_size(tried, allowed, most)
    if not tried:
        raise ConfigError(f"--microbatch auto: not even {size} examples fit into memory")
    return tried[-1][0]


def next_size(tried: Sequence[Tried], allowed: float, most: int) -> int:
    """Return the size to try next: twice as large, or what the line through the last two sizes still allows.

    >>> next_size([(16, 400)], allowed=2000, most=500), next_size([(16, 400)], allowed=2000, most=20)
    (32, 20)
    >>> next_size([(16, 400), (32, 1200)], allowed=2000, most=500)
    48
    >>> next_size([(32, 1200), (48, 2000)], allowed=2000, most=500)
    48
    """
    size, needed = tried[-1]
    earlier_size, earlier_needed = tried[-2] if len(tried) > 1 else (0, 0.0)
    # At least what an example took so far: memory that was already free can hide how much more is needed.
    bytes_per_example = max((needed - earlier_needed) / (size - earlier_size), needed / size, 1.0)
    return min(2 * size, most, size + int(max(0.0, allowed - needed) / bytes_per_example))


def _go_through(parts: Parts, size: int) -> None:
    """Run forward and backward on this many examples, a few times."""
    source = SyntheticSource(parts.feed.source.examples, parts.feed.source.order, Batch(size, size))
    feed = dataclasses.replace(parts.feed, source=source)
    for _ in range(_ROUNDS):
        contribution(dataclasses.replace(parts, feed=feed), 0, Votes)


class _Machine:
    """The memory that all workers of this machine share."""

    def in_use(self) -> float:
        """Return what this process has."""
        return _own_memory("VmRSS")

    def free(self) -> float:
        """Return what is left for all processes."""
        free = free_memory()
        if free is None:
            raise ConfigError("--microbatch auto needs a GPU or Linux: the free memory of this system is unknown")
        return free

    def peak_of(self, work: Callable[[], None]) -> float | None:
        """Work; return the most that this process had meanwhile."""
        give_freed_memory_back()
        Path("/proc/self/clear_refs").write_text("5")  # forget the earlier peak
        work()
        return _own_memory("VmHWM")


class _Gpu:
    """The memory of one GPU."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def in_use(self) -> float:
        """Return what this process has."""
        return float(torch.cuda.memory_allocated(self._device))

    def free(self) -> float:
        """Return what is left."""
        torch.cuda.empty_cache()
        return float(torch.cuda.mem_get_info(self._device)[0])

    def peak_of(self, work: Callable[[], None]) -> float | None:
        """Work; return the most that this process had meanwhile, or None if that was too much."""
        torch.cuda.reset_peak_memory_stats(self._device)
        try:
            work()
        except torch.cuda.OutOfMemoryError:
            return None
        finally:
            torch.cuda.empty_cache()
        return float(torch.cuda.max_memory_allocated(self._device))


def _own_memory(name: str) -> float:
    """Return a line of what the system says about this process, in bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024.0 * float(lines[name].split()[0])
