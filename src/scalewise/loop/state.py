"""Everything that changes as training goes on, as named tensors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from scalewise.cluster.collectives import broadcast
from scalewise.errors import FolderError
from scalewise.loop.flat import FlatWeights


@dataclass
class TrainingState:
    """The network, the optimizer and the number of steps taken."""

    model: nn.Module
    weights: FlatWeights
    optimizer: Optimizer
    step: int = 0

    def model_tensors(self) -> dict[str, Tensor]:
        """Return weights and buffers under the network's own names."""
        return dict(self.model.state_dict())

    def tensors(self) -> dict[str, Tensor]:
        """Return all that a resumed run needs; a name does not depend on how the weights lie in memory."""
        return self._named(dict(self._slots()))

    def load(self, saved: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        slots = dict(self._slots())
        current = self._named(slots)
        fits = saved.keys() == current.keys() and all(saved[name].shape == current[name].shape for name in current)
        if not fits:
            raise FolderError("the checkpoint belongs to another workload: its tensors have other names or shapes")
        for name, tensor in current.items():
            tensor.copy_(saved[name])
        self._set_slots(slots)

    def broadcast(self) -> None:
        """Take over the chief's tensors."""
        slots = dict(self._slots())
        buffers = [buffer for _, buffer in sorted(self.model.named_buffers())]
        frozen = [parameter.data for parameter in self.model.parameters() if not parameter.requires_grad]
        for tensor in [self.weights.vector, *slots.values(), *buffers, *frozen]:
            broadcast(tensor)
        self._set_slots(slots)

    def _named(self, slots: Mapping[str, Tensor]) -> dict[str, Tensor]:
        named = {f"model.{name}": tensor for name, tensor in self.model_tensors().items()}
        for slot, vector in slots.items():
            named |= {f"optimizer.{slot}.{name}": piece for name, piece in self.weights.by_name(vector).items()}
        return named

    def _slots(self) -> Iterator[tuple[str, Tensor]]:
        """Return each kind of optimizer state as one vector over all weights."""
        decayed, exempt = (self.optimizer.state[part] for part in (self.weights.decayed, self.weights.exempt))
        for slot in decayed:
            yield slot, torch.cat([decayed[slot], exempt[slot]])

    def _set_slots(self, slots: Mapping[str, Tensor]) -> None:
        boundary = len(self.weights.decayed)
        for slot, vector in slots.items():
            self.optimizer.state[self.weights.decayed][slot].copy_(vector[:boundary])
            self.optimizer.state[self.weights.exempt][slot].copy_(vector[boundary:])
