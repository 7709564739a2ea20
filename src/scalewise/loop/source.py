"""Where the examples of a microbatch come from: memory, or a disk that is read ahead."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch import Tensor

from scalewise.data.order import ExampleOrder
from scalewise.data.splits import Examples, Split
from scalewise.data.stored import Item, StoredSplit, items
from scalewise.recipe.batch import Batch


@dataclass
class ExampleSource:
    """The examples of every microbatch, cut out of the endless stream of examples."""

    examples: Examples
    order: ExampleOrder
    batch: Batch

    def microbatch(self, step: int, index: int) -> Split:
        """Return the examples of one microbatch."""
        return self.examples.take(self.indices(step, index))

    def indices(self, step: int, index: int) -> Tensor:
        """Say which examples a microbatch has."""
        return self.order.indices(self.batch.position(step, index), self.batch.size(index))

    def close(self) -> None:
        """Let go of whatever reads ahead."""

    def seeds(self, step: int, index: int) -> Tensor:
        """Return a seed for each example of a microbatch."""
        return self.order.seeds(self.batch.position(step, index), self.batch.size(index))


@dataclass
class ReadAhead(ExampleSource):
    """A source on disk: it reads ahead what this worker will need next, and restarts when asked for something else."""

    examples: StoredSplit
    share: range
    """The microbatches of each step that this worker computes."""
    _expected: Iterator[tuple[int, int]] = field(default_factory=lambda: iter(()))
    _coming: Iterator[Split] = field(default_factory=lambda: iter(()))

    def microbatch(self, step: int, index: int) -> Split:
        """Return the examples of one microbatch."""
        if next(self._expected, None) != (step, index):
            self._expected = _from(step, index, self.share)
            self._coming = self.examples.stream(_Batches(self, step, index))
            next(self._expected)
        return next(self._coming)

    def close(self) -> None:
        """End the processes that read ahead: they ignore the signals by which Python would end them later."""
        self._expected, self._coming = iter(()), iter(())


@dataclass(frozen=True)
class _Batches:
    """The examples of one microbatch after the other, from one on."""

    source: ReadAhead
    step: int
    index: int

    def __iter__(self) -> Iterator[list[Item]]:
        transforms = self.source.examples.reading.transform_example is not None
        for step, index in _from(self.step, self.index, self.source.share):
            yield items(self.source.indices(step, index), self.source.seeds(step, index) if transforms else None)


def _from(step: int, index: int, share: range) -> Iterator[tuple[int, int]]:
    """Go through a worker's microbatches for ever, from one of them on.

    >>> list(itertools.islice(_from(7, 3, range(2, 4)), 4))
    [(7, 3), (8, 2), (8, 3), (9, 2)]
    """
    yield from ((step, later) for later in share if later >= index)
    yield from ((later_step, later) for later_step in itertools.count(step + 1) for later in share)
