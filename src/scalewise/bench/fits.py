"""Finds the largest microbatch that fits into memory, without ever asking for more than there is.

Memory grows with the microbatch along a straight line. Sizes are doubled as long as the line says that the next one
fits; the largest is where the line meets what a worker may use. On a GPU a size that does not fit after all is
refused with an error; on a CPU the system would end the process, which is why nothing is tried on luck.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from scalewise.bench.measure import SyntheticSource
from scalewise.cluster.collectives import gather_values
from scalewise.cluster.memory import free_memory
from scalewise.errors import ConfigError
from scalewise.loop.step import Parts, gradients_and_loss
from scalewise.recipe.batch import Batch

_SMALLEST = 16
_SHARE = 0.9
"""How much of the free memory a search may plan with."""

_CLOSE = 1.05
"""How much larger a size must be to be worth another try."""

Tried = tuple[int, float]
"""A microbatch, and the bytes that it took at most."""


def largest_microbatch(parts: Parts, most: int, local_workers: int) -> int:
    """Find the largest microbatch up to `most` that fits on every worker; all workers call it together."""
    device = parts.state.weights.vector.device
    memory = _Gpu(device) if device.type == "cuda" else _Machine()
    share = _SHARE if device.type == "cuda" else _SHARE / local_workers
    allowed = min(gather_values(share * memory.free() + memory.in_use()))
    tried: list[Tried] = []
    size = min(_SMALLEST, most)
    while not tried or size > _CLOSE * tried[-1][0]:
        peaks = gather_values(memory.peak_of(lambda size=size: _go_through(parts, size)))  # type: ignore[misc]
        if None in peaks:
            break
        tried.append((size, max(peaks)))
        size = next_size(tried, allowed, most)
    if not tried:
        raise ConfigError(f"--microbatch auto: not even {size} examples fit into memory")
    return tried[-1][0]


def next_size(tried: Sequence[Tried], allowed: float, most: int) -> int:
    """Return the size to try next: twice as large, or what the line through the last two sizes still allows.

    >>> next_size([(16, 1000)], allowed=2000, most=500)
    32
    >>> next_size([(16, 1000), (32, 1400)], allowed=2000, most=500), next_size([(16, 1000), (32, 1400)], 9000, 50)
    (56, 50)
    >>> next_size([(32, 1400), (56, 2000)], allowed=2000, most=500)
    56
    """
    size, peak = tried[-1]
    earlier_size, earlier_peak = tried[-2] if len(tried) > 1 else (0, 0.0)
    bytes_per_example = max(peak - earlier_peak, 1.0) / (size - earlier_size)
    room = max(0.0, allowed - peak)
    return min(2 * size, most, size + int(room / bytes_per_example))


def _go_through(parts: Parts, size: int) -> None:
    """Put so many examples through the network and back."""
    source = SyntheticSource(parts.feed.source.examples, parts.feed.source.order, Batch(size, size))
    feed = dataclasses.replace(parts.feed, source=source)
    gradients_and_loss(dataclasses.replace(parts, feed=feed), 0)


class _Machine:
    """The memory that all workers of this machine share."""

    def in_use(self) -> float:
        """Return what this process has."""
        return _own_memory("VmRSS")

    def free(self) -> float:
        """Return what is left for all processes."""
        free = free_memory()
        if free is None:
            raise ConfigError("--microbatch auto needs a GPU or Linux: nothing here says how much memory is free")
        return free

    def peak_of(self, work: Callable[[], None]) -> float | None:
        """Work; return the most that this process had meanwhile."""
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
