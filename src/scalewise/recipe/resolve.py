"""Replaces every `auto` that decides the model by what it stands for, once, before anything is built.

What is left to the data (an epoch, as many examples as val has, the length of the run) becomes a rule with a name. So a
saved configuration says everything: a later version with other defaults still trains the same model from it.
"""

import hashlib
import json
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from scalewise.config import AUTO, Checkpoint, Config, Evaluate, Recipe, model_decisions
from scalewise.config.duration import Duration, DurationField, Unit
from scalewise.config.schema import Fraction
from scalewise.errors import ConfigError
from scalewise.recipe.scaling import full_learning_rate

SCHEMA = 2
"""Raised when a default, or what a setting means, changes; not for a new setting that does nothing by default."""

_AUTO_MICROBATCH = 64
_SECOND_MOMENTS = {"rmsprop": 0.99, "adamw": 0.999, "lamb": 0.999}
_EPSILONS = {"rmsprop": 1e-8, "adamw": 1e-8, "lamb": 1e-6}
_WITHOUT_END = ("constant", "steps")
_END_FACTORS = {"linear": 0.01, "exponential": 0.1, "one_cycle": 1e-4}
_CHECKPOINT_SECONDS, _CHECKPOINT_SHARE = 60.0, 0.01


class ResolvedRecipe(Recipe):
    """A recipe without `auto`; None is a setting that its optimizer, schedule or precision does not use."""

    microbatch: PositiveInt
    second_moment: Fraction | None
    epsilon: PositiveFloat | None
    warmup_start_factor: Annotated[float, Field(ge=0, le=1)] | None
    schedule: Literal["constant", "steps", "exponential", "polynomial", "linear", "cosine", "one_cycle"]
    schedule_length: DurationField | Literal["run"] | None
    end_learning_rate_factor: Annotated[float, Field(ge=0, le=1)] | None
    loss_scale: PositiveFloat | Literal["dynamic"] | None


class ResolvedEvaluate(Evaluate):
    """Evaluation without `auto`."""

    every_examples: PositiveInt | Literal["epoch"] | None
    train_examples: PositiveInt | Literal["as_val"]


class ResolvedCheckpoint(Checkpoint):
    """Checkpoints without `auto`."""

    every_seconds: PositiveFloat | None
    share_of_time: Fraction | None


class ResolvedConfig(Config):
    """A configuration in which no `auto` decides the model."""

    recipe: ResolvedRecipe
    evaluate: ResolvedEvaluate
    checkpoint: ResolvedCheckpoint


def resolve(config: Config) -> ResolvedConfig:
    """Replace every `auto` but those of the cluster and of performance, which decide only the time."""
    resolved = {
        "recipe": resolve_recipe(config.recipe),
        "evaluate": _resolve_evaluate(config.evaluate),
        "checkpoint": resolve_checkpoint(config.checkpoint),
    }
    return ResolvedConfig.model_validate({**dict(config), **{name: dict(part) for name, part in resolved.items()}})


def resolve_recipe(recipe: Recipe) -> ResolvedRecipe:
    """Replace every `auto` of a recipe; what contradicts itself is refused."""
    _check(recipe)
    known = {**dict(recipe), "microbatch": _microbatch(recipe), "schedule": _schedule(recipe)}
    if recipe.second_moment == AUTO:
        known["second_moment"] = _SECOND_MOMENTS.get(recipe.optimizer)
    if recipe.epsilon == AUTO:
        known["epsilon"] = _EPSILONS.get(recipe.optimizer)
    if recipe.warmup_start_factor == AUTO:
        known["warmup_start_factor"] = _warmup_start(recipe) if recipe.warmup == "gradual" else None
    if recipe.schedule_length == AUTO:
        known["schedule_length"] = _schedule_length(recipe)
    if recipe.end_learning_rate_factor == AUTO:
        name = _schedule(recipe)
        known["end_learning_rate_factor"] = None if name in _WITHOUT_END else _END_FACTORS.get(name, 0.0)
    if recipe.loss_scale == AUTO:
        known["loss_scale"] = "dynamic" if recipe.precision == "fp16" else None
    return ResolvedRecipe.model_validate(known)


def resolve_checkpoint(checkpoint: Checkpoint) -> ResolvedCheckpoint:
    """Save every minute, or less often if it takes more of the time; an explicit interval is kept."""
    asked = checkpoint.every_seconds != AUTO
    known = dict(checkpoint)
    if not asked:
        known["every_seconds"] = _CHECKPOINT_SECONDS
    if checkpoint.share_of_time == AUTO:
        known["share_of_time"] = None if asked else _CHECKPOINT_SHARE
    return ResolvedCheckpoint.model_validate(known)


def fingerprint(config: ResolvedConfig) -> str:
    """Return a hash of everything that decides the model or where it is measured, behind the schema's number.

    Settings at their defaults are left out, so that a setting which a later version adds does not change it.
    """
    usual = model_decisions(resolve(Config(workload=config.workload)))
    decisions = {name: value for name, value in model_decisions(config).items() if value != usual.get(name)}
    content = json.dumps({"schema": SCHEMA, "workload": config.workload, **decisions}, sort_keys=True)
    return f"{SCHEMA}-{hashlib.sha256(content.encode()).hexdigest()}"


def _resolve_evaluate(evaluate: Evaluate) -> ResolvedEvaluate:
    known = dict(evaluate)
    if evaluate.every_examples == AUTO:
        known["every_examples"] = None if evaluate.every_steps else "epoch"
    if evaluate.train_examples == AUTO:
        known["train_examples"] = "as_val"
    return ResolvedEvaluate.model_validate(known)


def _check(recipe: Recipe) -> None:
    """Refuse settings that contradict each other."""
    if recipe.schedule == "one_cycle" and recipe.warmup != "none":
        raise ConfigError(f"recipe.schedule=one_cycle warms up by itself: recipe.warmup={recipe.warmup} contradicts it")
    if recipe.learning_rate_decay_steps is not None:
        if recipe.schedule_length not in (AUTO, _schedule_length(recipe)):
            raise ConfigError(
                "recipe.learning_rate_decay_steps and recipe.schedule_length both set the length: set one"
            )
        if recipe.schedule in _WITHOUT_END:
            raise ConfigError(
                f"recipe.schedule={recipe.schedule} has no length: learning_rate_decay_steps has no effect"
            )
    if recipe.schedule == "steps" and not recipe.drop_at:
        raise ConfigError("recipe.schedule=steps needs recipe.drop_at: say when the rate drops")
    if recipe.precision != "fp16" and recipe.loss_scale not in (AUTO, None):
        raise ConfigError(f"recipe.loss_scale={recipe.loss_scale} needs recipe.precision=fp16, not {recipe.precision}")


def _microbatch(recipe: Recipe) -> int:
    """Return the microbatch: unless asked for, at most 64 examples, and at least two microbatches.

    >>> _microbatch(Recipe(global_batch=97)), _microbatch(Recipe(global_batch=4096))
    (49, 64)
    """
    examples, ghost = recipe.global_batch, recipe.ghost_batch
    if ghost is not None and ghost > (examples if recipe.microbatch == AUTO else recipe.microbatch):
        raise ConfigError(f"recipe.ghost_batch={ghost} is larger than the microbatch")
    if recipe.microbatch == AUTO:
        # Two microbatches even for a small batch, so that two workers can share any batch but a single example.
        count = min(examples, max(2, -(-examples // _AUTO_MICROBATCH)))
        microbatch = -(-examples // count)
        return microbatch if ghost is None else min(examples, -(-microbatch // ghost) * ghost)
    if recipe.microbatch > examples:
        raise ConfigError(
            f"recipe.microbatch={recipe.microbatch} is larger than recipe.global_batch={examples}; "
            f"use at most {examples}, or auto"
        )
    return recipe.microbatch


def _schedule(recipe: Recipe) -> str:
    if recipe.schedule != AUTO:
        return recipe.schedule
    return "constant" if recipe.learning_rate_decay_steps is None else "linear"


def _schedule_length(recipe: Recipe) -> Duration | str | None:
    if recipe.learning_rate_decay_steps is not None:
        return Duration(recipe.learning_rate_decay_steps, Unit.STEPS)
    return None if _schedule(recipe) in _WITHOUT_END else "run"


def _warmup_start(recipe: Recipe) -> float:
    """Begin a gradual warmup at the unscaled rate, else at a microbatch's share of the rate."""
    if recipe.scaling != "none" and recipe.global_batch > recipe.reference_batch:
        return recipe.learning_rate / full_learning_rate(recipe)
    return _microbatch(recipe) / recipe.global_batch
