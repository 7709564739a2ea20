"""Measures the gradient noise scale: how many examples a gradient must be averaged over before more of them say little.

McCandlish et al. 2018, arXiv:1812.06162, appendix A.
A microbatch of b examples and the whole batch of B both have the true gradient G in them, and noise that is smaller the
more examples there are: E|G_b|^2 = |G|^2 + tr(S)/b, where S is the covariance of one example's gradient. Two sizes are
enough to tell the two parts apart, and every step has both. Each part is averaged over steps before they are divided:
the mean of the ratios would be biased.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from scalewise.optim.kernels import norms
from scalewise.recipe.batch import Batch

_CONFIDENCE = 0.95


class NoiseSample(NamedTuple):
    """What one step says: tr(S) and |G|^2, both unbiased and both very noisy."""

    noise: float
    signal: float


@dataclass(frozen=True)
class NoiseMeter:
    """Takes a sample every so many steps."""

    every_steps: int
    batch: Batch
    device: torch.device

    @functools.cached_property
    def _nothing(self) -> Tensor:
        return torch.zeros((), device=self.device)

    def due(self, step: int) -> bool:
        """Say whether a step is measured."""
        return step % self.every_steps == 0

    def square(self, step: int, microbatch: int, gradients: Sequence[Tensor], weight: Tensor | None = None) -> Tensor:
        """Return |g|^2 of a microbatch's mean gradient; a smaller last microbatch does not take part.

        Without weights it is that of the microbatch's part of the whole gradient, which is microbatch / batch of its
        mean. With weights its part is what it weighs, which only the microbatch itself knows.
        """
        if not self.due(step) or self.batch.size(microbatch) < self.batch.microbatch:
            return self._nothing
        square = torch.stack(norms(list(gradients))).square().sum()
        return square if weight is None else torch.where(weight > 0, square / weight.square(), 0.0)

    def sample(
        self, step: int, squares: Tensor, gradient: Tensor, loss_scale: float, weight: Tensor | None = None
    ) -> NoiseSample | None:
        """Return what a step says, from the squares of its microbatches and from its whole gradient, unclipped.

        `weight` is the mean weight of the examples, where they are weighed; the noise is then that of one example of
        this weight. The mean of a microbatch is a ratio of two sums, which few examples of very different weights
        make noisier: by the squared coefficient of variation of the weights over the size of the microbatch.
        """
        if not self.due(step):
            return None
        small, large = self.batch.microbatch, self.batch.examples
        # Without weights a microbatch's part of the gradient is small/large of its mean gradient.
        whole, parts = large // small, large / small if weight is None else 1.0
        small_square = float(squares) / whole * parts**2 / loss_scale**2
        large_square = float(torch.linalg.vector_norm(gradient)) ** 2 / loss_scale**2
        if weight is not None:
            large_square /= float(weight) ** 2 or 1.0
        if not (math.isfinite(small_square) and math.isfinite(large_square)):
            return None
        noise = (small_square - large_square) / (1 / small - 1 / large)
        signal = (large * large_square - small * small_square) / (large - small)
        return NoiseSample(noise, signal)


@dataclass(frozen=True)
class NoiseScale:
    """The estimate over some steps; an end of its interval is None where the steps leave it open."""

    value: float | None
    low: float | None
    high: float | None
    steps: int


@dataclass
class NoiseSums:
    """Sums over samples, from which the estimate follows."""

    steps: int = 0
    sums: list[float] = field(default_factory=lambda: [0.0] * 5)
    """Of noise, signal, noise^2, signal^2, noise * signal."""

    def add(self, sample: NoiseSample) -> None:
        """Take one sample."""
        noise, signal = sample
        self.steps += 1
        values = (noise, signal, noise**2, signal**2, noise * signal)
        self.sums = [total + value for total, value in zip(self.sums, values, strict=True)]

    def clear(self) -> None:
        """Start again from nothing."""
        self.steps, self.sums = 0, [0.0] * 5

    def estimate(self) -> NoiseScale:
        """Divide the means; the interval is Fieller's, which knows that the divisor is uncertain, too."""
        if self.steps < 2:
            return NoiseScale(None, None, None, self.steps)
        from scipy import stats  # takes a moment, which runs that measure no noise need not wait for

        n = self.steps
        noise, signal, *squares = (total / n for total in self.sums)
        noise_variance, signal_variance, covariance = (
            (square - product) / (n - 1)
            for square, product in zip(squares, (noise**2, signal**2, noise * signal), strict=True)
        )
        quantile = float(stats.t.ppf((1 + _CONFIDENCE) / 2, n - 1)) ** 2
        a = signal**2 - quantile * signal_variance
        b = noise * signal - quantile * covariance
        c = noise**2 - quantile * noise_variance
        value = noise / signal if signal > 0 else None
        if b**2 < a * c:
            return NoiseScale(value, None, None, n)
        root = math.sqrt(b**2 - a * c)
        if a <= 0:  # the signal may be nothing at all: the noise scale has no upper end
            return NoiseScale(value, max(0.0, (b - root) / a) if a < 0 else None, None, n)
        return NoiseScale(value, max(0.0, (b - root) / a), (b + root) / a, n)
