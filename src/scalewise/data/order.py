"""Decides which examples a position in the endless stream of training examples holds.

The stream runs through the epochs without a break: each epoch is a permutation of all examples, and a batch may begin
in one epoch and end in the next. Everything is a pure function of (seed, epoch, position).
"""

import functools
from dataclasses import dataclass

import torch
from torch import Tensor

from scalewise.seeds import Purpose, derive


@functools.lru_cache(maxsize=2)
def permutation(seed: int, epoch: int, examples: int) -> Tensor:
    """Return the order of the examples in one epoch.

    >>> permutation(0, 3, 5).sort().values.tolist()
    [0, 1, 2, 3, 4]
    """
    generator = torch.Generator().manual_seed(derive(seed, Purpose.EXAMPLE_ORDER, epoch))
    return torch.randperm(examples, generator=generator)


@dataclass(frozen=True)
class ExampleOrder:
    """The endless stream of example indices."""

    seed: int
    examples: int

    def indices(self, position: int, count: int) -> Tensor:
        """Return the examples at `count` positions from `position` on.

        >>> order = ExampleOrder(seed=0, examples=5)
        >>> order.indices(3, 4).tolist() == order.indices(0, 10)[3:7].tolist()
        True
        """
        parts = []
        while count > 0:
            epoch, start = divmod(position, self.examples)
            part = permutation(self.seed, epoch, self.examples)[start : start + count]
            parts.append(part)
            position += len(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else torch.cat(parts)
