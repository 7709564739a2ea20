"""A microbatch's part of the mean loss over the global batch, which is what gradients are taken of."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import Tensor

from scalewise.data.trees import Tree
from scalewise.workloads import Workload


class LossPart(NamedTuple):
    """What one microbatch adds to the mean loss, and to the mean weight of an example; None: each weighs 1."""

    loss: Tensor
    weight: Tensor | None


@dataclass(frozen=True)
class TrainingLoss:
    """The workload's loss.

    Each example has 1 / global batch of a say, whatever its microbatch: the last microbatch may be smaller. Where
    examples weigh differently, what all of them weigh together is known, and divided by, only when the step is summed.
    """

    workload: Workload
    label_smoothing: float
    global_batch: int

    def __call__(self, outputs: Any, targets: Tree) -> LossPart:
        """Return a microbatch's part."""
        summed = self.workload.summed_loss(outputs, targets, self.label_smoothing)
        if isinstance(summed, Tensor):
            return LossPart(summed / self.global_batch, None)
        loss, weight = summed
        return LossPart(loss / self.global_batch, weight.detach().float() / self.global_batch)
