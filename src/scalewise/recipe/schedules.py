"""The learning rate and the momentum of every step: a scaled rate, a warmup to it, and a decay from it.

A recipe counts in epochs, examples or steps, so that it reads the same at every batch; here they become steps, once.
"""

import math
from dataclasses import dataclass

from scalewise.config import Duration
from scalewise.errors import ConfigError
from scalewise.recipe.decays import (
    Constant,
    Decay,
    Drops,
    Exponential,
    OneCycle,
    Shaped,
    cosine,
    linear,
    polynomial,
)
from scalewise.recipe.resolve import ResolvedRecipe
from scalewise.recipe.scaling import full_learning_rate
from scalewise.recipe.warmup import GradualWarmup, NoWarmup, SteppingWarmup, Warmup


@dataclass(frozen=True)
class ScheduleFacts:
    """What was derived from the recipe: for the record and for the user."""

    full_learning_rate: float
    first_learning_rate: float
    warmup_steps: int
    decay_points: list[int]


@dataclass(frozen=True)
class Schedule:
    """Plain functions of the step."""

    full_rate: float
    warmup: Warmup
    decay: Decay
    steady_momentum: float

    def learning_rate(self, step: int) -> float:
        """Return the rate of the step that comes after `step` steps."""
        phase = self.warmup if step < self.warmup.steps else self.decay
        return self.full_rate * phase.factor(step)

    def momentum(self, step: int) -> float:
        """Return the momentum of that step."""
        return self.decay.momentum(step, self.steady_momentum)

    def facts(self) -> ScheduleFacts:
        """Return what was derived from the recipe."""
        return ScheduleFacts(
            full_learning_rate=self.full_rate,
            first_learning_rate=self.learning_rate(0),
            warmup_steps=math.ceil(self.warmup.steps),
            decay_points=[math.ceil(point) for point in self.decay.points()],
        )


def make_schedule(recipe: ResolvedRecipe, train_examples: int, last_step: int | None) -> Schedule:
    """Derive the schedule of a run that ends after `last_step` steps, if that is known."""

    def steps(duration: Duration) -> float:
        return duration.steps(recipe.global_batch, train_examples)

    def length() -> float:
        if isinstance(recipe.schedule_length, Duration):
            return steps(recipe.schedule_length)
        if last_step is None:
            raise ConfigError(
                f"recipe.schedule={recipe.schedule} needs a length: "
                "set recipe.schedule_length, or end the run by stop.epochs or stop.steps"
            )
        return last_step

    warmup = _make_warmup(recipe, steps(recipe.warmup_length), train_examples)
    if last_step is not None and warmup.steps > last_step:
        raise ConfigError(
            f"recipe.warmup_length={recipe.warmup_length} is {math.ceil(warmup.steps)} steps, "
            f"longer than the run of {last_step} steps"
        )
    left = recipe.end_learning_rate_factor or 0.0
    momentum = 0.0 if recipe.optimizer == "sgd" else recipe.momentum
    decay: Decay
    match recipe.schedule:
        case "constant":
            decay = Constant()
        case "steps":
            decay = Drops(tuple(sorted(map(steps, recipe.drop_at))), recipe.drop_factor)
        case "one_cycle":
            end, low = length(), min(recipe.cycle_momentum, momentum)
            decay = OneCycle(recipe.cycle_start_factor, recipe.cycle_peak * end, end, left, low)
        case "exponential":
            decay = Exponential(*_stretch(recipe, warmup, length()), left)
        case _:
            power = recipe.polynomial_power
            shapes = {"linear": linear(left), "cosine": cosine(left), "polynomial": polynomial(power, left)}
            decay = Shaped(shapes[recipe.schedule], *_stretch(recipe, warmup, length()))
    return Schedule(full_learning_rate(recipe), warmup, decay, momentum)


def _stretch(recipe: ResolvedRecipe, warmup: Warmup, end: float) -> tuple[float, float]:
    """Return where a decay begins and ends: it takes over from the warmup without a jump."""
    if end <= warmup.steps:
        raise ConfigError(
            f"the schedule {recipe.schedule} ends after {math.ceil(end)} steps, "
            f"before the warmup of {math.ceil(warmup.steps)} steps is over"
        )
    return warmup.steps, end


def _make_warmup(recipe: ResolvedRecipe, steps: float, train_examples: int) -> Warmup:
    if recipe.warmup == "none" or steps == 0:
        return NoWarmup()
    if recipe.warmup == "stepping":
        epochs = steps * recipe.global_batch / train_examples
        return SteppingWarmup(steps, stairs=max(1, math.ceil(epochs - 1e-9)))
    assert recipe.warmup_start_factor is not None
    return GradualWarmup(steps, recipe.warmup_start_factor)
