"""Warmups: which share of the full learning rate a step gets until the warmup is over."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass


class Warmup(ABC):
    """The rise to the full rate."""

    steps: float
    """When it is over; not always a whole number of steps."""

    @abstractmethod
    def factor(self, step: int) -> float:
        """Return the share of the full rate in the step after `step` steps, while the warmup lasts."""


@dataclass(frozen=True)
class NoWarmup(Warmup):
    """The full rate at once."""

    steps: float = 0.0

    def factor(self, step: int) -> float:
        """Return the whole."""
        return 1.0


@dataclass(frozen=True)
class SteppingWarmup(Warmup):
    """Equal stairs, one for each epoch: after E epochs the rate has gone up from 1/(E+1) to E/(E+1), and is full then.

    >>> warmup = SteppingWarmup(steps=40.0, stairs=4)
    >>> [warmup.factor(step) for step in (0, 9, 10, 39)]
    [0.2, 0.2, 0.4, 0.8]
    """

    steps: float
    stairs: int

    def factor(self, step: int) -> float:
        """Return the height of the stair that a step is on."""
        stair = math.floor(step * self.stairs / self.steps)
        return (stair + 1) / (self.stairs + 1)


@dataclass(frozen=True)
class GradualWarmup(Warmup):
    """A straight line from a share of the full rate, step by step (Goyal et al. 2017, arXiv:1706.02677).

    >>> warmup = GradualWarmup(steps=40.0, start=0.5)
    >>> [warmup.factor(step) for step in (0, 20)]
    [0.5, 0.75]
    """

    steps: float
    start: float

    def factor(self, step: int) -> float:
        """Return the height of the line."""
        return self.start + (1 - self.start) * step / self.steps
