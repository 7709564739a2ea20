"""What an optimizer is: it moves the vector that holds all weights."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from torch import Tensor

from scalewise.optim.flat import FlatWeights


class Optimizer(ABC):
    """Updates the weights once per step; its state is vectors as long as the weights, all zeros at first.

    It reads the gradients and never writes them: they may lie in memory that all workers of a machine share.
    """

    slots: dict[str, Tensor]

    @abstractmethod
    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights down their gradients; the first update has the number 1."""


@dataclass(frozen=True)
class Stretch:
    """A stretch of the weights under one weight decay."""

    part: slice
    weight_decay: float


def stretches(weights: FlatWeights, weight_decay: float) -> list[Stretch]:
    """Cut the weights where weight decay ends; without decay there is one cut, and so one kernel, less."""
    if weight_decay == 0:
        return [Stretch(slice(0, len(weights.vector)), 0.0)]
    decayed, exempt = slice(0, weights.exempt_from), slice(weights.exempt_from, len(weights.vector))
    return [Stretch(part, decay) for part, decay in ((decayed, weight_decay), (exempt, 0.0)) if part.stop > part.start]
