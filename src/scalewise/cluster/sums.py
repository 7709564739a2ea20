"""Adds vectors up over the workers: through shared memory inside a machine, through the network otherwise."""

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from scalewise.cluster.collectives import (
    broadcast_from_chief,
    start_sum_over_workers,
    sum_over_workers,
    wait_for_all,
)
from scalewise.cluster.meeting import Meeting, make_pipes
from scalewise.cluster.world import World


class WorkerSum(ABC):
    """A vector on each worker, and their sum."""

    own: Tensor
    """What this worker adds; written again before every sum."""
    total: Tensor
    """The sum over all workers, until the next one."""

    @abstractmethod
    def add_up(self) -> None:
        """Fill `total`; all workers call it together."""

    def wait_for_all(self) -> None:
        """Return when every worker has got here."""
        wait_for_all()


class MessageSum(WorkerSum):
    """The sum by an all-reduce, in place: of everything, or of one part after the other as they are started."""

    def __init__(self, length: int, device: torch.device) -> None:
        self.own = self.total = torch.zeros(length, device=device)
        self._under_way: list[Callable[[], object]] = []

    def start(self, start: int, end: int) -> None:
        """Begin to add up a part, which this worker has written, while it writes others; all start the same parts."""
        self._under_way.append(start_sum_over_workers(self.total[start:end]))

    def add_up(self) -> None:
        """Add up in place, or wait for the parts."""
        if not self._under_way:
            sum_over_workers(self.total)
        for wait in self._under_way:
            wait()
        self._under_way.clear()


class NarrowSum(WorkerSum):
    """The sum by messages of half the size: a first part of the vector is sent in a narrower type, and loses digits."""

    def __init__(self, length: int, narrow_length: int, dtype: torch.dtype, device: torch.device) -> None:
        self.own = self.total = torch.zeros(length, device=device)
        self._narrowed, self._rest = self.total[:narrow_length], self.total[narrow_length:]
        self._message = torch.zeros(narrow_length, dtype=dtype, device=device)

    def add_up(self) -> None:
        """Add up in place."""
        sum_over_workers(self._message.copy_(self._narrowed))
        self._narrowed.copy_(self._message)
        sum_over_workers(self._rest)


class SharedSum(WorkerSum):
    """The sum through memory that all workers of one machine see; several times faster than messages.

    Each worker adds up one slice of all workers' vectors, in the order of workers.
    """

    def __init__(self, vectors: list[Tensor], total: Tensor, world: World, meeting: Meeting) -> None:
        self._meeting = meeting
        slice_length = -(-len(total) // world.workers)
        part = slice(world.rank * slice_length, (world.rank + 1) * slice_length)
        self._parts, self._total_part = [vector[part] for vector in vectors], total[part]
        self.own, self.total = vectors[world.rank], total

    def add_up(self) -> None:
        """Add up this worker's slice between two meetings: after all have written, before any reads."""
        self._meeting.wait_for_all()
        first, second, *others = self._parts
        torch.add(first, second, out=self._total_part)
        for other in others:
            self._total_part.add_(other)
        self._meeting.wait_for_all()

    def wait_for_all(self) -> None:
        """Return when every worker has got here."""
        self._meeting.wait_for_all()


def make_worker_sum(length: int, device: torch.device, world: World, timeout_seconds: float) -> WorkerSum:
    """Choose the fastest way to add up vectors of one length."""
    on_one_machine = world.workers > 1 and world.local_workers == world.workers
    if not on_one_machine or device.type != "cpu":
        return MessageSum(length, device)
    names = [*map(str, range(world.workers)), "total"]
    folder = broadcast_from_chief(_make_files(names, 4 * length, world) if world.chief else None)
    if folder is None:
        return MessageSum(length, device)
    *vectors, total = (torch.from_file(f"{folder}/{name}", shared=True, size=length) for name in names)
    meeting = Meeting.open(Path(folder), world, timeout_seconds)
    if world.chief:
        _remove_names(Path(folder))
    return SharedSum(vectors, total, world, meeting)


def _make_files(names: list[str], size: int, world: World) -> str | None:
    """Make files in memory for all workers; None where there is not enough of it, as in a small container."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="scalewise-", dir=memory if memory.is_dir() else None)
    try:
        for name in names:
            with Path(folder, name).open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
        make_pipes(Path(folder), world)
    except (OSError, AttributeError):  # macOS has no posix_fallocate
        _remove_names(Path(folder))
        return None
    return folder


def _remove_names(folder: Path) -> None:
    """Remove the names; the memory itself lives as long as a worker has it, and no longer, however it ends."""
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
