"""Decides when training ends; every worker decides the same, because all it looks at is the same on every worker."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scalewise.config import Stop, Target
from scalewise.errors import ConfigError


class Reason(StrEnum):
    """Why training ended."""

    TARGET = "target"
    LOSS = "loss"
    STEPS = "steps"
    EPOCHS = "epochs"
    SECONDS = "seconds"
    SIGNAL = "signal"
    DIVERGED = "diverged"


@dataclass(frozen=True)
class StopRule:
    """The stopping rule in steps; whatever comes first ends training."""

    target: Target | None
    steps: int | None
    epoch_steps: int | None
    seconds: float | None
    loss: Target | None = None
    loss_steps: int = 1
    """How many steps the training loss is a mean over."""

    @property
    def last_step(self) -> int | None:
        """The step that training does not go past, if that is known beforehand."""
        return min((steps for steps in (self.steps, self.epoch_steps) if steps is not None), default=None)

    def reason(
        self, step: int, metrics: Mapping[str, float] | None, out_of_time: bool, losses: Sequence[float] = ()
    ) -> Reason | None:
        """Say why training ends after this step, or None when it goes on; `losses` are those of the last steps."""
        if self.target is not None and metrics is not None and self.target.reached(metrics):
            return Reason.TARGET
        if self._loss_reached(losses):
            return Reason.LOSS
        if self.steps is not None and step >= self.steps:
            return Reason.STEPS
        if self.epoch_steps is not None and step >= self.epoch_steps:
            return Reason.EPOCHS
        return Reason.SECONDS if out_of_time else None

    def _loss_reached(self, losses: Sequence[float]) -> bool:
        full = len(losses) == self.loss_steps  # a single lucky batch ends nothing
        return self.loss is not None and full and self.loss.reached({self.loss.metric: math.fsum(losses) / len(losses)})


def stop_rule(stop: Stop, global_batch: int, train_examples: int) -> StopRule:
    """Turn the configuration's stopping rule into steps; a last epoch is not cut short by rounding.

    >>> stop_rule(Stop(epochs=2), global_batch=64, train_examples=100).epoch_steps
    4
    """
    if not any((stop.target, stop.loss, stop.steps, stop.epochs, stop.seconds)):
        raise ConfigError("nothing ends this run: set stop.target, stop.loss, stop.steps, stop.epochs or stop.seconds")
    epoch_steps = None if stop.epochs is None else -int(-(stop.epochs * train_examples) // global_batch)
    loss_steps = max(1, math.ceil(stop.loss_window.steps(global_batch, train_examples)))
    return StopRule(stop.target, stop.steps, epoch_steps, stop.seconds, stop.loss, loss_steps)
