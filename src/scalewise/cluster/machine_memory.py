"""The memory of this machine: how much of it is free, and how the allocator keeps it between steps."""

import contextlib
import ctypes
from collections.abc import Iterator
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's names for its own settings, from malloc.h
_NEVER = 2**31 - 1
_LARGE_BLOCKS = (64 << 20, 32 << 20)  # older versions take no more than the second


def keep_freed_memory() -> None:
    """Let the allocator keep what a step frees, because the next step asks for the same again.

    By default glibc gives most of it back to the system; getting it again costs a page fault for every 4 kB, and
    workers of one machine then queue for the kernel. Only large blocks are still given back, because the holes that
    they leave could double the memory that a process needs. Other allocators are left as they are.
    """
    try:
        set_allocator = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # macOS, musl, Windows
        return
    set_allocator(_TRIM_THRESHOLD, _NEVER)
    any(set_allocator(_MMAP_THRESHOLD, size) for size in _LARGE_BLOCKS)


def give_freed_memory_back() -> None:
    """Let the allocator give back what is free right now."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def free_memory() -> float | None:
    """Return the bytes that this machine, or the job or container that this process is in, has left; None: unknown."""
    machine = Path("/proc/meminfo")
    if not machine.exists():
        return None
    return min([1024 * _numbers(machine)["MemAvailable:"], *_left_in_control_groups()])


def _left_in_control_groups() -> Iterator[float]:
    """Return what is left of every limit on this process, which Slurm and containers set by control groups."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, place = line.split(":", 2)
        if controllers == "memory":  # version 1
            root, limit, usage, cache = "/sys/fs/cgroup/memory", "limit_in_bytes", "usage_in_bytes", "total_"
        elif controllers == "":  # version 2
            root, limit, usage, cache = "/sys/fs/cgroup", "max", "current", ""
        else:
            continue
        own = Path(root, place.lstrip("/"))
        for group in (own, *own.parents):
            if group.is_relative_to(root) and (group / f"memory.{limit}").exists():
                most = (group / f"memory.{limit}").read_text().strip()
                used = float((group / f"memory.{usage}").read_text())
                given_up_when_needed = _numbers(group / "memory.stat").get(f"{cache}inactive_file", 0.0)
                yield float("inf") if most == "max" else float(most) - used + given_up_when_needed


def _numbers(file: Path) -> dict[str, float]:
    """Read lines of a name and a number."""
    lines = (line.split() for line in file.read_text().splitlines())
    return {name: float(number) for name, number, *_ in lines}
