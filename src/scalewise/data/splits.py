"""A split is the examples of a data set for one purpose: inputs and targets that belong together, both as trees."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from scalewise.data.trees import Tree, first_leaf, map_tree


class Examples(ABC):
    """Examples in memory or on disk."""

    device: torch.device
    """Where the examples are when they are used."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, indices: Tensor, seeds: Tensor | None = None) -> "Split":
        """Copy out some examples; with seeds, as training sees them."""

    @abstractmethod
    def part(self, start: int, stop: int) -> "Split":
        """Return a run of examples."""

    @abstractmethod
    def runs(self, ranges: Iterable[range]) -> Iterator["Split"]:
        """Return one run of examples after the other."""

    @abstractmethod
    def only(self, indices: Tensor) -> "Examples":
        """Leave the other examples out."""

    @abstractmethod
    def to(self, device: torch.device) -> "Examples":
        """Use the examples on a device."""


@dataclass(frozen=True)
class Split(Examples):
    """Examples in memory: as many inputs as targets."""

    inputs: Tree
    targets: Tree

    def __len__(self) -> int:
        return len(first_leaf(self.inputs))

    @property
    def device(self) -> torch.device:  # type: ignore[override] # what is in memory is where it is
        """Where the examples are."""
        return first_leaf(self.inputs).device

    def take(self, indices: Tensor, seeds: Tensor | None = None) -> "Split":
        """Copy out some examples; what is in memory is transformed as microbatches, where it is used."""
        indices = indices.to(self.device)
        return self._mapped(lambda tensor: tensor.index_select(0, indices))

    def part(self, start: int, stop: int) -> "Split":
        """Return a run of examples."""
        return self._mapped(lambda tensor: tensor[start:stop])

    def runs(self, ranges: Iterable[range]) -> Iterator["Split"]:
        """Return one run of examples after the other."""
        return (self.part(run.start, run.stop) for run in ranges)

    def only(self, indices: Tensor) -> "Split":
        """Leave the other examples out."""
        return self.take(indices)

    def to(self, device: torch.device) -> "Split":
        """Move the examples to a device."""
        return self._mapped(lambda tensor: tensor.to(device))

    def copied(self) -> "Split":
        """Copy the examples, so that they start at an aligned address in every process."""
        return self._mapped(Tensor.clone)

    def _mapped(self, function: Callable[[Tensor], Tensor]) -> "Split":
        return Split(map_tree(function, self.inputs), map_tree(function, self.targets))
