"""Optimizers by name, over the vector that holds all weights."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim.sgd import sgd

from scalewise.config import Recipe
from scalewise.recipe.flat import FlatWeights


class Optimizer(ABC):
    """Moves the weights once per step; what it remembers are vectors as long as the weights, all zeros at first.

    torch's functional optimizers do the arithmetic. Its `Optimizer` classes would slow a small step down, import for
    more than a second, and bring a state that is not there before the first step.
    """

    slots: dict[str, Tensor]

    @abstractmethod
    def step(self, learning_rate: float) -> None:
        """Move the weights down their gradients."""


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
    return [Stretch(decayed, weight_decay), Stretch(exempt, 0.0)]


class Momentum(Optimizer):
    """Stochastic gradient descent, with momentum m and weight decay d where they are not zero.

    v = m v + (g + d w); w = w - rate * v, or, in Nesterov's form, w = w - rate * ((g + d w) + m v).
    """

    def __init__(
        self, weights: FlatWeights, gradients: Tensor, momentum: float, nesterov: bool, weight_decay: float
    ) -> None:
        velocity = torch.zeros_like(weights.vector)
        self.slots = {"momentum": velocity} if momentum else {}
        self._momentum, self._nesterov = momentum, nesterov and momentum > 0
        self._stretches = [
            ([weights.vector[s.part]], [gradients[s.part]], [velocity[s.part] if momentum else None], s.weight_decay)
            for s in stretches(weights, weight_decay)
        ]

    def step(self, learning_rate: float) -> None:
        """Move the weights."""
        for weights, gradients, velocities, weight_decay in self._stretches:
            sgd(
                weights,
                gradients,
                velocities,
                fused=True,
                weight_decay=weight_decay,
                momentum=self._momentum,
                lr=learning_rate,
                dampening=0.0,
                nesterov=self._nesterov,
                maximize=False,
            )


def make_optimizer(recipe: Recipe, weights: FlatWeights, gradients: Tensor) -> Optimizer:
    """Make the recipe's optimizer over the weights and the vector that begins with their gradients."""
    momentum = 0.0 if recipe.optimizer == "sgd" else recipe.momentum
    nesterov = recipe.optimizer == "nesterov_momentum"
    return Momentum(weights, gradients, momentum, nesterov, recipe.weight_decay)
