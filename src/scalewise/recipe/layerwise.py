"""LARS and LAMB: every layer moves by a share of its own size, so that one rate suits layers of any size.

A layer is a matrix or a filter bank. Biases and normalisation parameters have no size to go by: they move as without
layers. Where a layer or its update is all zeros there is no ratio of sizes, and 1 is taken.
"""

import torch
from torch import Tensor

from scalewise.recipe.flat import FlatWeights
from scalewise.recipe.optimizer import Optimizer, stretches


class _Layers:
    """The layers of a vector, as pieces of it."""

    def __init__(self, weights: FlatWeights, vector: Tensor) -> None:
        offsets, shapes = weights.layout.offsets, weights.layout.shapes
        self._pieces = [
            vector[start : start + shape.numel()]
            for start, shape in zip(offsets, shapes, strict=False)
            if start < weights.exempt_from
        ]

    def norms(self) -> Tensor:
        """Return the length of each layer."""
        if not self._pieces:
            return torch.zeros(0)
        return torch.stack(torch._foreach_norm(self._pieces))

    def multiply(self, factors: Tensor) -> None:
        """Multiply each layer by a factor of its own."""
        if self._pieces:
            torch._foreach_mul_(self._pieces, list(factors.unbind()))


class Lars(Optimizer):
    """LARS with coefficient c, momentum m and weight decay d.

    l = c |w| / (|g| + d |w|); v = m v + rate * l * (g + d w); w = w - v. The rate is inside the momentum, as in the
    paper: when it changes, past steps keep the rate that they were taken with.
    """

    def __init__(self, weights: FlatWeights, gradients: Tensor, coefficient: float, weight_decay: float) -> None:
        self.slots = {"momentum": torch.zeros_like(weights.vector)}
        self._coefficient, self._weight_decay = coefficient, weight_decay
        self._weights, self._gradients = weights.vector, gradients[: len(weights.vector)]
        self._stretches = stretches(weights, weight_decay)
        self._update = torch.zeros_like(weights.vector)
        self._weight_layers, self._gradient_layers, self._update_layers = (
            _Layers(weights, vector) for vector in (weights.vector, gradients, self._update)
        )

    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights."""
        sizes, slopes = self._weight_layers.norms(), self._gradient_layers.norms()
        ratios = self._coefficient * sizes / (slopes + self._weight_decay * sizes)
        for s in self._stretches:
            torch.add(self._gradients[s.part], self._weights[s.part], alpha=s.weight_decay, out=self._update[s.part])
        self._update_layers.multiply(torch.where((sizes > 0) & (slopes > 0), ratios, 1.0))
        velocity = self.slots["momentum"].mul_(momentum).add_(self._update, alpha=learning_rate)
        self._weights.sub_(velocity)


class Lamb(Optimizer):
    """LAMB with momentum m, second moment b and weight decay d.

    a = m a + (1 - m) g; s = b s + (1 - b) g^2; u = a^ / (sqrt(s^) + e) + d w; w = w - rate * |w| / |u| * u, where a^
    and s^ make up for the zeros that the averages began with.
    """

    def __init__(
        self, weights: FlatWeights, gradients: Tensor, second_moment: float, epsilon: float, weight_decay: float
    ) -> None:
        self.slots = {name: torch.zeros_like(weights.vector) for name in ("average", "squares")}
        self._second_moment, self._epsilon, self._weight_decay = second_moment, epsilon, weight_decay
        self._weights, self._gradients = weights.vector, gradients[: len(weights.vector)]
        self._decayed = slice(0, weights.exempt_from)
        self._update = torch.zeros_like(weights.vector)
        self._weight_layers, self._update_layers = _Layers(weights, weights.vector), _Layers(weights, self._update)

    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights."""
        average, squares, update = self.slots["average"], self.slots["squares"], self._update
        average.lerp_(self._gradients, 1 - momentum)
        squares.mul_(self._second_moment).addcmul_(self._gradients, self._gradients, value=1 - self._second_moment)
        began_at_zero = 1 - momentum**number, (1 - self._second_moment**number) ** 0.5
        torch.sqrt(squares, out=update).mul_(began_at_zero[0] / began_at_zero[1])
        torch.div(average, update.add_(self._epsilon * began_at_zero[0]), out=update)
        if self._weight_decay:
            update[self._decayed].add_(self._weights[self._decayed], alpha=self._weight_decay)
        sizes, lengths = self._weight_layers.norms(), self._update_layers.norms()
        self._update_layers.multiply(torch.where((sizes > 0) & (lengths > 0), sizes / lengths, 1.0))
        self._weights.sub_(update, alpha=learning_rate)
