"""Keeps the memory of one step for the next."""

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # glibc's names for its own settings, from malloc.h
_NEVER = 2**31 - 1


def keep_freed_memory() -> None:
    """Let the allocator keep what a step frees, because the next step asks for the same again.

    By default glibc gives large blocks back to the system; getting them again costs a page fault for every 4 kB, and
    workers of one machine then queue for the kernel. The price is some memory in fragments. Other allocators are left
    as they are.
    """
    try:
        set_allocator = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # macOS, musl, Windows
        return
    set_allocator(_MMAP_MAX, 0)
    set_allocator(_TRIM_THRESHOLD, _NEVER)
