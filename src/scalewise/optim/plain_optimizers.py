"""torch's optimizers over one vector, with torch's functions where it has fast ones.

Its `Optimizer` classes would slow down a small step, take more than a second to import, and have no state before the
first step.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim.sgd import sgd

from scalewise.optim.flat import FlatWeights
from scalewise.optim.kernels import adamw
from scalewise.optim.optimizer import Optimizer, stretches


class Momentum(Optimizer):
    """Stochastic gradient descent, with momentum m and weight decay d where they are not zero.

    Polyak 1964, doi:10.1016/0041-5553(64)90137-5; Nesterov's form as in Sutskever et al. 2013, PMLR 28:1139.

    v = m v + (g + d w); w = w - rate * v, or, in Nesterov's form, w = w - rate * ((g + d w) + m v).
    """

    def __init__(
        self, weights: FlatWeights, gradients: Tensor, remembers: bool, nesterov: bool, weight_decay: float
    ) -> None:
        velocity = torch.zeros_like(weights.vector)
        self.slots = {"momentum": velocity} if remembers else {}
        self._nesterov = nesterov
        self._stretches = [
            ([weights.vector[s.part]], [gradients[s.part]], [velocity[s.part] if remembers else None], s.weight_decay)
            for s in stretches(weights, weight_decay)
        ]

    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights."""
        for weights, gradients, velocities, weight_decay in self._stretches:
            sgd(
                weights,
                gradients,
                velocities,
                fused=True,
                weight_decay=weight_decay,
                momentum=momentum,
                lr=learning_rate,
                dampening=0.0,
                nesterov=self._nesterov and momentum > 0,
                maximize=False,
            )


class RMSProp(Optimizer):
    """Divides by the root of the average square, with momentum m and weight decay d where they are not zero.

    Tieleman and Hinton 2012, lecture 6.5 of Neural Networks for Machine Learning.

    g = g + d w; s = a s + (1 - a) g^2; v = m v + g / (sqrt(s) + e); w = w - rate * v.
    """

    def __init__(
        self, weights: FlatWeights, gradients: Tensor, second_moment: float, epsilon: float, weight_decay: float
    ) -> None:
        self.slots = {name: torch.zeros_like(weights.vector) for name in ("squares", "momentum")}
        self._second_moment, self._epsilon = second_moment, epsilon
        self._weights, self._gradients = weights.vector, gradients[: len(weights.vector)]
        self._stretches = stretches(weights, weight_decay)
        self._decayed_gradients, self._roots = torch.zeros_like(weights.vector), torch.zeros_like(weights.vector)

    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights."""
        squares, velocity, gradients = self.slots["squares"], self.slots["momentum"], self._decayed_gradients
        for s in self._stretches:
            torch.add(self._gradients[s.part], self._weights[s.part], alpha=s.weight_decay, out=gradients[s.part])
        squares.mul_(self._second_moment).addcmul_(gradients, gradients, value=1 - self._second_moment)
        torch.sqrt(squares, out=self._roots).add_(self._epsilon)
        velocity.mul_(momentum).addcdiv_(gradients, self._roots)
        self._weights.add_(velocity, alpha=-learning_rate)


@dataclass(frozen=True)
class AdamAverages:
    """The averages of gradients and of their squares from which Adam moves a vector, in one pass over all of them."""

    average: Tensor
    squares: Tensor
    gradients: Tensor
    second_moment: float
    epsilon: float

    def part(self, part: slice) -> "AdamAverages":
        """Return those of a part of the weights."""
        average, squares, gradients = (vector[part] for vector in (self.average, self.squares, self.gradients))
        return AdamAverages(average, squares, gradients, self.second_moment, self.epsilon)

    def move(self, vector: Tensor, rate: float, momentum: float, number: int, weight_decay: float = 0.0) -> None:
        """Take the gradients into the averages, then make the vector smaller by `rate` times Adam's step."""
        adamw(
            [vector],
            [self.gradients],
            [self.average],
            [self.squares],
            [],
            [torch.tensor(float(number), device=vector.device)],
            lr=rate,
            beta1=momentum,
            beta2=self.second_moment,
            weight_decay=weight_decay,
            eps=self.epsilon,
            amsgrad=False,
            maximize=False,
        )


class AdamW(Optimizer):
    """Adam with momentum m, second moment b and decoupled weight decay d.

    Kingma and Ba 2015, arXiv:1412.6980; Loshchilov and Hutter 2019, arXiv:1711.05101.

    w = w - rate * d * w; a = m a + (1 - m) g; s = b s + (1 - b) g^2; w = w - rate * a^ / (sqrt(s^) + e), where a^ and
    s^ make up for the zeros that the averages began with.
    """

    def __init__(
        self, weights: FlatWeights, gradients: Tensor, second_moment: float, epsilon: float, weight_decay: float
    ) -> None:
        self.slots = {name: torch.zeros_like(weights.vector) for name in ("average", "squares")}
        average, squares = self.slots.values()
        averages = AdamAverages(average, squares, gradients, second_moment, epsilon)
        self._stretches = [
            (weights.vector[s.part], averages.part(s.part), s.weight_decay) for s in stretches(weights, weight_decay)
        ]

    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights."""
        for weights, averages, weight_decay in self._stretches:
            averages.move(weights, learning_rate, momentum, number, weight_decay)
