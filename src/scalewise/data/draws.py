"""Random numbers for single examples: pure functions of an example's seed, wherever and beside whomever it is read.

A seed is a function of (seed, epoch, position). The draws of an example are numbered; each is a hash of seed and number
(splitmix64), so that those of a whole microbatch are a few operations on one vector.
"""

from torch import Tensor

_GOLDEN = 0x9E3779B97F4A7C15


def mixed(values: Tensor) -> Tensor:
    """Scramble 64 bits (the finalizer of splitmix64); additions and products wrap."""
    values = (values ^ _shifted(values, 30)) * _signed(0xBF58476D1CE4E5B9)
    values = (values ^ _shifted(values, 27)) * _signed(0x94D049BB133111EB)
    return values ^ _shifted(values, 31)


def uniform(seeds: Tensor, draw: int) -> Tensor:
    """Return one number from 0 to 1 per seed.

    >>> import torch
    >>> seeds = torch.arange(10_000)
    >>> [round(float(uniform(seeds, draw).mean()), 1) for draw in (0, 1)]
    [0.5, 0.5]
    """
    return _shifted(mixed(seeds + _signed((draw + 1) * _GOLDEN)), 11).double() * 2.0**-53


def integers(seeds: Tensor, draw: int, high: int) -> Tensor:
    """Return one of 0 to high - 1 per seed.

    >>> import torch
    >>> sorted(set(integers(torch.arange(100), 0, high=3).tolist()))
    [0, 1, 2]
    """
    return (uniform(seeds, draw) * high).long()


def _signed(value: int) -> int:
    """Return the lowest 64 bits as one of the signed integers that torch has."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _shifted(values: Tensor, bits: int) -> Tensor:
    """Shift to the right with zeros from the left."""
    return (values >> bits) & ((1 << (64 - bits)) - 1)
