"""Decides which examples a position in the endless stream of training examples holds.

The stream runs through the epochs without a break: each epoch is a permutation of all examples, and a batch may begin
in one epoch and end in the next. Everything is a pure function of (seed, epoch, position).
"""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from scalewise.data.draws import mixed
from scalewise.seeds import Purpose, derive

_POSITIVE = (1 << 63) - 1


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
        return self._joined(
            permutation(self.seed, epoch, self.examples)[start:stop]
            for epoch, start, stop in self._stretches(position, count)
        )

    def seeds(self, position: int, count: int) -> Tensor:
        """Return a seed for whatever is drawn for each of these examples: from (seed, epoch, position in the epoch)."""
        return self._joined(
            mixed(torch.arange(start, stop) + derive(self.seed, Purpose.EXAMPLE, epoch)) & _POSITIVE
            for epoch, start, stop in self._stretches(position, count)
        )

    def _stretches(self, position: int, count: int) -> Iterator[tuple[int, int, int]]:
        """Cut positions into runs inside one epoch each: its number, and where in it the run starts and stops."""
        while count > 0:
            epoch, start = divmod(position, self.examples)
            stop = min(start + count, self.examples)
            yield epoch, start, stop
            position += stop - start
            count -= stop - start

    @staticmethod
    def _joined(parts: Iterable[Tensor]) -> Tensor:
        tensors = list(parts)
        return tensors[0] if len(tensors) == 1 else torch.cat(tensors)
