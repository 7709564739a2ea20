"""LARS and LAMB: every layer moves by a share of its own size, so that one rate suits layers of any size.

A layer is a matrix or a filter bank. Biases and normalisation parameters are updated without layer-wise scaling. If a
layer or its update is all zeros, there is no ratio of sizes, and 1 is used.
"""

import torch
from torch import Tensor

from scalewise.optim.flat import FlatWeights
from scalewise.optim.kernels import addcmul_all, multiply_all, norms
from scalewise.optim.optimizer import Optimizer, stretches
from scalewise.optim.plain_optimizers import AdamAverages


class _Layers:
    """The layers of a vector, as pieces of it."""

    def __init__(self, weights: FlatWeights, vector: Tensor) -> None:
        offsets, shapes = weights.layout.offsets, weights.layout.shapes
        self._pieces = [
            vector[start : start + shape.numel()]
            for start, shape in zip(offsets, shapes, strict=False)
            if start < weights.exempt_from
        ]
        self._no_norms = vector[:0]

    def norms(self) -> Tensor:
        """Return the length of each layer."""
        if not self._pieces:
            return self._no_norms
        return torch.stack(norms(self._pieces))

    def multiply(self, factors: Tensor) -> None:
        """Multiply each layer by a factor of its own."""
        if self._pieces:
            multiply_all(self._pieces, list(factors.unbind()))

    def subtract(self, others: "_Layers", factors: Tensor) -> None:
        """Subtract other layers of the same sizes, each times a factor of its own."""
        if self._pieces:
            addcmul_all(self._pieces, others._pieces, list(factors.unbind()), -1)


class Lars(Optimizer):
    """LARS with coefficient c, momentum m and weight decay d (You et al. 2017, arXiv:1708.03888).

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
    """LAMB with momentum m, second moment b and weight decay d (You et al. 2020, arXiv:1904.00962).

    a = m a + (1 - m) g; s = b s + (1 - b) g^2; u = a^ / (sqrt(s^) + e) + d w; w = w - rate * |w| / |u| * u, where a^
    and s^ make up for the zeros that the averages began with.
    """

    def __init__(
        self, weights: FlatWeights, gradients: Tensor, second_moment: float, epsilon: float, weight_decay: float
    ) -> None:
        self.slots = {name: torch.zeros_like(weights.vector) for name in ("average", "squares")}
        average, squares = self.slots.values()
        averages = AdamAverages(average, squares, gradients, second_moment, epsilon)
        layers, exempt = slice(0, weights.exempt_from), slice(weights.exempt_from, len(weights.vector))
        self._weight_decay = weight_decay
        self._exempt, self._exempt_averages = weights.vector[exempt], averages.part(exempt)
        self._weights, self._averages = weights.vector[layers], averages.part(layers)
        self._update = torch.zeros_like(self._weights)
        self._weight_layers, self._update_layers = _Layers(weights, self._weights), _Layers(weights, self._update)

    def step(self, learning_rate: float, momentum: float, number: int) -> None:
        """Move the weights."""
        self._exempt_averages.move(self._exempt, learning_rate, momentum, number)
        unit = self._make_update(momentum, number)
        sizes, lengths = self._weight_layers.norms(), self._update_layers.norms()
        ratios = torch.where((sizes > 0) & (lengths > 0), sizes / lengths, unit)
        self._weight_layers.subtract(self._update_layers, learning_rate * ratios)

    def _make_update(self, momentum: float, number: int) -> float:
        """Fill the update with a multiple of u, all that its direction needs; return how much of it is u itself.

        u / d = w - (-1 / d) * a^ / (sqrt(s^) + e) is a step of Adam's from the weights, and so takes a single pass.
        """
        if self._weight_decay == 0:
            self._averages.move(self._update.zero_(), -1.0, momentum, number)
            return 1.0
        self._averages.move(self._update.copy_(self._weights), -1 / self._weight_decay, momentum, number)
        return self._weight_decay
