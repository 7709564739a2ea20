"""Derives independent random seeds as pure functions, so that no random state has to be saved or sent."""

from enum import IntEnum

_MASK = (1 << 64) - 1


class Purpose(IntEnum):
    """What a seed is for: two purposes never share a stream."""

    INITIAL_WEIGHTS = 1
    EXAMPLE_ORDER = 2
    MICROBATCH = 3
    EVALUATION_SUBSET = 4
    SEARCH = 5
    EXAMPLE = 6


def _mix(value: int) -> int:
    """Scramble 64 bits (the finalizer of splitmix64)."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def derive(seed: int, purpose: Purpose, *indices: int) -> int:
    """Return the 63-bit seed for one purpose at the given indices.

    >>> derive(0, Purpose.MICROBATCH, 7, 3) == derive(0, Purpose.MICROBATCH, 7, 3)
    True
    >>> derive(0, Purpose.MICROBATCH, 7, 3) == derive(0, Purpose.MICROBATCH, 3, 7)
    False
    """
    state = _mix(seed & _MASK)
    for part in (purpose, *indices):
        state = _mix((state + 0x9E3779B97F4A7C15 + part) & _MASK)
    return state >> 1
