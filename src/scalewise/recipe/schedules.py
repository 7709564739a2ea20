"""The learning rate and the momentum of every step: a scaled rate, a warmup to it, and a decay from it.

A recipe counts in epochs, examples or steps, so that it reads the same at every batch; here they become steps, once.
"""

import math
from dataclasses import dataclass
from typing import Any

from scalewise.config import AUTO, Duration, Recipe
from scalewise.errors import ConfigError
from scalewise.recipe.batch import batch_of
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
from scalewise.recipe.scaling import full_learning_rate
from scalewise.recipe.warmup import GradualWarmup, NoWarmup, SteppingWarmup, Warmup

_END_FACTORS = {"linear": 0.01, "exponential": 0.1, "one_cycle": 1e-4}


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

    def facts(self) -> dict[str, Any]:
        """Return what was derived from the recipe: for the record and for the user."""
        return {
            "full_learning_rate": self.full_rate,
            "first_learning_rate": self.learning_rate(0),
            "warmup_steps": math.ceil(self.warmup.steps),
            "decay_points": [math.ceil(point) for point in self.decay.points()],
        }


def make_schedule(recipe: Recipe, train_examples: int, last_step: int | None) -> Schedule:
    """Derive the schedule of a run that ends after `last_step` steps, if that is known."""

    def steps(text: str) -> float:
        return Duration.parse(text).steps(recipe.global_batch, train_examples)

    def length() -> float:
        if recipe.learning_rate_decay_steps is not None:
            return recipe.learning_rate_decay_steps
        if recipe.schedule_length != AUTO:
            return steps(recipe.schedule_length)
        if last_step is None:
            raise ConfigError(
                f"recipe.schedule={recipe.schedule} needs a length: "
                "set recipe.schedule_length, or end the run by stop.epochs or stop.steps"
            )
        return last_step

    check_schedule(recipe)
    warmup = _make_warmup(recipe, steps(recipe.warmup_length), train_examples)
    if last_step is not None and warmup.steps > last_step:
        raise ConfigError(
            f"recipe.warmup_length={recipe.warmup_length} is {math.ceil(warmup.steps)} steps, "
            f"longer than the run of {last_step} steps"
        )
    name = schedule_name(recipe)
    end_factor = recipe.end_learning_rate_factor
    left = _END_FACTORS.get(name, 0.0) if end_factor == AUTO else end_factor
    momentum = 0.0 if recipe.optimizer == "sgd" else recipe.momentum
    decay: Decay
    match name:
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
            decay = Shaped(shapes[name], *_stretch(recipe, warmup, length()))
    return Schedule(full_learning_rate(recipe), warmup, decay, momentum)


def check_schedule(recipe: Recipe) -> None:
    """Refuse choices that contradict each other."""
    if recipe.schedule == "one_cycle" and recipe.warmup != "none":
        raise ConfigError(f"recipe.schedule=one_cycle warms up by itself: recipe.warmup={recipe.warmup} contradicts it")
    if recipe.learning_rate_decay_steps is not None and recipe.schedule_length != AUTO:
        raise ConfigError("recipe.learning_rate_decay_steps and recipe.schedule_length both say how long: set one")
    if recipe.learning_rate_decay_steps is not None and recipe.schedule in ("constant", "steps"):
        raise ConfigError(f"recipe.schedule={recipe.schedule} has no length: learning_rate_decay_steps means nothing")
    if recipe.schedule == "steps" and not recipe.drop_at:
        raise ConfigError("recipe.schedule=steps needs recipe.drop_at: say when the rate drops")


def schedule_name(recipe: Recipe) -> str:
    """Say what `auto` stands for."""
    if recipe.schedule != AUTO:
        return recipe.schedule
    return "constant" if recipe.learning_rate_decay_steps is None else "linear"


def _stretch(recipe: Recipe, warmup: Warmup, end: float) -> tuple[float, float]:
    """Return where a decay begins and ends: it takes over from the warmup without a jump."""
    if end <= warmup.steps:
        raise ConfigError(
            f"the schedule {schedule_name(recipe)} ends after {math.ceil(end)} steps, "
            f"before the warmup of {math.ceil(warmup.steps)} steps is over"
        )
    return warmup.steps, end


def _make_warmup(recipe: Recipe, steps: float, train_examples: int) -> Warmup:
    if recipe.warmup == "none" or steps == 0:
        return NoWarmup()
    if recipe.warmup == "stepping":
        epochs = steps * recipe.global_batch / train_examples
        return SteppingWarmup(steps, stairs=max(1, math.ceil(epochs - 1e-9)))
    return GradualWarmup(steps, _gradual_start(recipe))


def _gradual_start(recipe: Recipe) -> float:
    """Return where a gradual warmup begins, as a share of the full rate."""
    if recipe.warmup_start_factor != AUTO:
        return recipe.warmup_start_factor
    if recipe.scaling != "none" and recipe.global_batch > recipe.reference_batch:
        return recipe.learning_rate / full_learning_rate(recipe)
    batch = batch_of(recipe)
    return batch.microbatch / batch.examples
