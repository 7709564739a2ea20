"""What happens to the full learning rate after the warmup: shapes over a stretch of steps."""

import bisect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

Shape = Callable[[float], float]
"""From progress, 0 at the start and 1 at the end, to a share of the full rate."""


def linear(end: float) -> Shape:
    """Go straight from 1 to `end`."""
    return lambda progress: 1.0 - progress + end * progress


def polynomial(power: float, end: float) -> Shape:
    """Go from 1 to `end` along (1 - progress) to a power."""
    return lambda progress: end + (1.0 - end) * (1.0 - progress) ** power


def cosine(end: float) -> Shape:
    """Go from 1 to `end` along half a wave (Loshchilov and Hutter 2017, arXiv:1608.03983, without restarts)."""
    return lambda progress: end + (1.0 - end) * (1.0 + math.cos(math.pi * progress)) / 2


class Decay(ABC):
    """The share of the full rate, and the momentum, at every step after the warmup."""

    @abstractmethod
    def factor(self, step: int) -> float:
        """Return the share of the full rate in the step after `step` steps."""

    def momentum(self, step: int, momentum: float) -> float:
        """Return the momentum of that step; only one-cycle changes it."""
        return momentum

    def points(self) -> list[float]:
        """List the steps at which something changes."""
        return []


class Constant(Decay):
    """Always the full rate."""

    def factor(self, step: int) -> float:
        """Return the whole."""
        return 1.0


@dataclass(frozen=True)
class Shaped(Decay):
    """A shape stretched over the steps from `start` to `end`; then the rate stays."""

    shape: Shape
    start: float
    end: float

    def factor(self, step: int) -> float:
        """Return the height of the shape.

        >>> decay = Shaped(linear(0.2), start=10, end=20)
        >>> [round(decay.factor(step), 3) for step in (10, 15, 20, 99)]
        [1.0, 0.6, 0.2, 0.2]
        """
        return self.shape(min((step - self.start) / (self.end - self.start), 1.0))

    def points(self) -> list[float]:
        """List start and end."""
        return [self.start, self.end]


@dataclass(frozen=True)
class Exponential(Decay):
    """The rate falls by the same factor in every stretch of the same length, without an end."""

    start: float
    end: float
    left: float
    """What is left of the rate at `end`."""

    def factor(self, step: int) -> float:
        """Return what is left.

        >>> [round(Exponential(0, 10, 0.1).factor(step), 3) for step in (0, 10, 20)]
        [1.0, 0.1, 0.01]
        """
        return float(self.left ** ((step - self.start) / (self.end - self.start)))

    def points(self) -> list[float]:
        """List start and end."""
        return [self.start, self.end]


@dataclass(frozen=True)
class Drops(Decay):
    """The rate is multiplied by a factor at given steps."""

    at: tuple[float, ...]
    left: float

    def factor(self, step: int) -> float:
        """Return what the drops until now have left.

        >>> [round(Drops((10, 20), 0.1).factor(step), 3) for step in (9, 10, 20)]
        [1.0, 0.1, 0.01]
        """
        return float(self.left ** bisect.bisect_right(self.at, step))

    def points(self) -> list[float]:
        """List the drops."""
        return list(self.at)


@dataclass(frozen=True)
class OneCycle(Decay):
    """The rate goes up to the full rate and down to far below its start; the momentum is its mirror image.

    Smith 2018, arXiv:1803.09820.
    """

    start: float
    """The share of the full rate at the start."""
    peak: float
    """The step with the full rate."""
    end: float
    """The step at which the cycle is over."""
    left: float
    """The share of the full rate at the end."""
    low_momentum: float

    def factor(self, step: int) -> float:
        """Return the share of the full rate.

        >>> cycle = OneCycle(start=0.1, peak=5, end=10, left=0.0, low_momentum=0.8)
        >>> [round(cycle.factor(step), 3) for step in (0, 5, 10, 11)]
        [0.1, 1.0, 0.0, 0.0]
        >>> [round(cycle.momentum(step, 0.9), 3) for step in (0, 5, 10)]
        [0.9, 0.8, 0.9]
        """
        height = self._height(step)
        foot = self.start if step <= self.peak else self.left
        return foot + (1.0 - foot) * height

    def momentum(self, step: int, momentum: float) -> float:
        """Return the momentum: low where the rate is high."""
        return momentum + (self.low_momentum - momentum) * self._height(step)

    def points(self) -> list[float]:
        """List peak and end."""
        return [self.peak, self.end]

    def _height(self, step: int) -> float:
        """How far up a step is: 0 at both ends, 1 at the peak."""
        if step <= self.peak:
            return step / self.peak
        return max(0.0, (self.end - step) / (self.end - self.peak))
