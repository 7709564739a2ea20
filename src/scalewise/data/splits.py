"""A split is the examples of a data set for one purpose: inputs and targets that belong together."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


class Examples(ABC):
    """Examples in memory or on disk."""

    device: torch.device
    """Where the examples are when they are used."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, indices: Tensor) -> "Split":
        """Copy out some examples."""

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

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def device(self) -> torch.device:  # type: ignore[override] # what is in memory is where it is
        """Where the examples are."""
        return self.inputs.device

    def take(self, indices: Tensor) -> "Split":
        """Copy out some examples."""
        indices = indices.to(self.inputs.device)
        return Split(self.inputs.index_select(0, indices), self.targets.index_select(0, indices))

    def part(self, start: int, stop: int) -> "Split":
        """Return a run of examples."""
        return Split(self.inputs[start:stop], self.targets[start:stop])

    def runs(self, ranges: Iterable[range]) -> Iterator["Split"]:
        """Return one run of examples after the other."""
        return (self.part(run.start, run.stop) for run in ranges)

    def only(self, indices: Tensor) -> "Split":
        """Leave the other examples out."""
        return self.take(indices)

    def to(self, device: torch.device) -> "Split":
        """Move the examples to a device."""
        return Split(self.inputs.to(device), self.targets.to(device))
