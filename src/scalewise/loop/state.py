"""Everything that changes as training goes on, as named tensors."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from scalewise.cluster.collectives import broadcast, broadcast_from_chief
from scalewise.errors import FolderError
from scalewise.optim.averaging import Average
from scalewise.optim.flat import FlatWeights
from scalewise.optim.optimizer import Optimizer
from scalewise.optim.precision import LossScale


@dataclass
class TrainingState:
    """The network, the optimizer and what else a recipe remembers, and the number of steps taken."""

    model: nn.Module
    weights: FlatWeights
    optimizer: Optimizer
    loss_scale: LossScale | None = None
    average: Average | None = None
    step: int = 0

    @property
    def updates(self) -> int:
        """How often the weights have moved: once per step, unless the step was skipped."""
        return self.step if self.loss_scale is None else self.step - self.loss_scale.skipped_steps

    @property
    def scale(self) -> float:
        """What the loss is multiplied by."""
        return 1.0 if self.loss_scale is None else self.loss_scale.value

    @property
    def may_overflow(self) -> bool:
        """Whether a smaller loss scale could still fix a step that overflows."""
        return self.loss_scale is not None and not self.loss_scale.at_floor

    def count_step(self, taken: bool) -> None:
        """Count a step, and let what follows the weights follow them."""
        self.step += 1
        if self.loss_scale is not None:
            self.loss_scale.took_step() if taken else self.loss_scale.skipped_step()
        if self.average is not None and taken:
            self.average.update()

    def model_tensors(self) -> dict[str, Tensor]:
        """Return weights and buffers under the network's own names."""
        return dict(self.model.state_dict())

    def tensors(self) -> dict[str, Tensor]:
        """Return all that a resumed run needs; a name does not depend on how the weights lie in memory."""
        named = {f"model.{name}": tensor for name, tensor in self.model_tensors().items()}
        for slot, vector in self.optimizer.slots.items():
            named |= {f"optimizer.{slot}.{name}": piece for name, piece in self.weights.by_name(vector).items()}
        if self.average is not None:
            weights, *statistics = self.average.vectors
            named |= {f"average.{name}": piece for name, piece in self.weights.by_name(weights).items()}
            named |= {f"average_statistics.{index}": vector for index, vector in enumerate(statistics)}
        if self.loss_scale is not None:
            named["loss_scale"] = self.loss_scale.state
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
        averages = self.average.vectors if self.average is not None else []
        for tensor in [self.weights.vector, *self.optimizer.slots.values(), *buffers, *frozen, *averages]:
            broadcast(tensor)
        if self.loss_scale is not None:
            state = self.loss_scale.state
            state.copy_(state.new_tensor(broadcast_from_chief(state.tolist())))
