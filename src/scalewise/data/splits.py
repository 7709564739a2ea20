"""Splits are the examples of a data set, in memory: inputs and targets that belong together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from scalewise.errors import WorkloadError


@dataclass(frozen=True)
class Split:
    """Examples: as many inputs as targets."""

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.inputs)

    def take(self, indices: Tensor) -> "Split":
        """Copy out some examples."""
        indices = indices.to(self.inputs.device)
        return Split(self.inputs.index_select(0, indices), self.targets.index_select(0, indices))

    def part(self, start: int, stop: int) -> "Split":
        """Return a run of examples."""
        return Split(self.inputs[start:stop], self.targets[start:stop])

    def to(self, device: torch.device) -> "Split":
        """Move the examples to a device."""
        return Split(self.inputs.to(device), self.targets.to(device))


def as_splits(content: Mapping[str, Any]) -> dict[str, Split]:
    """Check what a workload's `data()` returned: pairs of arrays or tensors under the names of splits."""
    missing = {"train", "val"} - set(content)
    if missing:
        raise WorkloadError(f"the workload's data() has no split {' and no split '.join(sorted(missing))}")
    return {name: _as_split(name, pair) for name, pair in content.items()}


def _as_split(name: str, pair: Any) -> Split:
    if isinstance(pair, Split):
        return pair
    try:
        inputs, targets = (torch.as_tensor(part) for part in pair)
    except (TypeError, ValueError, RuntimeError) as error:
        raise WorkloadError(f"split {name} must be a pair (inputs, targets) of arrays or tensors: {error}") from None
    if inputs.ndim == 0 or targets.ndim == 0 or len(inputs) != len(targets) or len(inputs) == 0:
        shapes = f"{tuple(inputs.shape)} and {tuple(targets.shape)}"
        raise WorkloadError(f"split {name} must hold as many inputs as targets, at least one of each; it has {shapes}")
    return Split(inputs, targets)
