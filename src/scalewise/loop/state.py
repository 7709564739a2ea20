"""Everything that changes as training goes on, as named tensors."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from scalewise.cluster.collectives import broadcast
from scalewise.errors import FolderError
from scalewise.recipe.flat import FlatWeights
from scalewise.recipe.optimizers import Optimizer


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
        named = {f"model.{name}": tensor for name, tensor in self.model_tensors().items()}
        for slot, vector in self.optimizer.slots.items():
            named |= {f"optimizer.{slot}.{name}": piece for name, piece in self.weights.by_name(vector).items()}
        return named

    def load(self, saved: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        current = self.tensors()
        fits = saved.keys() == current.keys() and all(saved[name].shape == current[name].shape for name in current)
        if not fits:
            raise FolderError("the checkpoint belongs to another workload: its tensors have other names or shapes")
        for name, tensor in current.items():
            tensor.copy_(saved[name])

    def broadcast(self) -> None:
        """Take over the chief's tensors."""
        buffers = [buffer for _, buffer in sorted(self.model.named_buffers())]
        frozen = [parameter.data for parameter in self.model.parameters() if not parameter.requires_grad]
        for tensor in [self.weights.vector, *self.optimizer.slots.values(), *buffers, *frozen]:
            broadcast(tensor)
