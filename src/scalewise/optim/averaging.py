"""Weight averaging: a running average of the weights, with a half-life in examples, so that it means the same at
every batch; and of the running statistics of batch normalisation, which belong to the weights.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from scalewise.optim.kernels import copy_all, lerp_all


class Average:
    """The averages of some vectors, which begin as what the vectors are at first."""

    def __init__(self, sources: list[Tensor], half_life_examples: float, global_batch: int) -> None:
        self._sources = sources
        self.vectors = [source.clone() for source in sources]
        self._kept = 0.5 ** (global_batch / half_life_examples)

    def update(self) -> None:
        """Move the averages: average = kept * average + (1 - kept) * source."""
        lerp_all(self.vectors, self._sources, 1.0 - self._kept)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the averages where the sources are, for the length of a `with` block."""
        plain = [source.clone() for source in self._sources]
        copy_all(self._sources, self.vectors)
        try:
            yield
        finally:
            copy_all(self._sources, plain)
