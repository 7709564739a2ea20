"""Scaling, warmups and schedules against values worked out by hand."""

from typing import Any

import pytest

from scalewise.config import Recipe
from scalewise.errors import ConfigError
from scalewise.recipe.resolve import resolve_recipe
from scalewise.recipe.scaling import full_learning_rate
from scalewise.recipe.schedules import Schedule, make_schedule

EXAMPLES = 25_600
STEPS_PER_EPOCH = 100  # at batch 256


def schedule(last_step: int | None = 9000, **keys: Any) -> Schedule:
    recipe = Recipe.model_validate({"global_batch": 256, "learning_rate": 1.0, **keys})
    return make_schedule(resolve_recipe(recipe), EXAMPLES, last_step)


def rates(plan: Schedule, *epochs: float) -> list[float]:
    return [plan.learning_rate(round(epoch * STEPS_PER_EPOCH)) for epoch in epochs]


@pytest.mark.parametrize(
    ("scaling", "batch", "rate"),
    [
        ("linear", 4096, 1.6),
        ("linear", 128, 0.05),
        ("linear", 256, 0.1),
        ("square_root", 4096, 0.4),
        ("square_root", 64, 0.05),
        ("none", 4096, 0.1),
    ],
)
def test_scaling_from_a_tenth_at_256(scaling: str, batch: int, rate: float) -> None:
    recipe = Recipe.model_validate({"learning_rate": 0.1, "global_batch": batch, "scaling": scaling})
    assert full_learning_rate(recipe) == pytest.approx(rate, rel=1e-12)


def thesis(batch: int, warmup: str) -> Schedule:
    """The thesis' schedule on 409,600 examples, so that an epoch is a whole number of steps."""
    recipe = Recipe.model_validate(
        {
            "global_batch": batch,
            "learning_rate": 0.1,
            "scaling": "linear",
            "warmup": warmup,
            "warmup_length": "5 epochs",
            "schedule": "steps",
            "microbatch": 256,
        }
    )
    return make_schedule(resolve_recipe(recipe), train_examples=409_600, last_step=90 * 409_600 // batch)


def test_the_thesis_stepping_warmup_epoch_by_epoch() -> None:
    plan, steps = thesis(4096, "stepping"), 100
    by_epoch = [plan.learning_rate(epoch * steps) for epoch in range(7)]
    assert by_epoch == pytest.approx([1.6 * n / 6 for n in (1, 2, 3, 4, 5, 6, 6)])
    assert plan.learning_rate(1 * steps - 1) == plan.learning_rate(0)  # a stair is an epoch long


def test_the_thesis_gradual_warmup_epoch_by_epoch() -> None:
    plan, steps = thesis(4096, "gradual"), 100
    by_epoch = [plan.learning_rate(epoch * steps) for epoch in range(7)]
    assert by_epoch == pytest.approx([0.1, 0.4, 0.7, 1.0, 1.3, 1.6, 1.6])
    assert plan.learning_rate(steps // 2) == pytest.approx(0.25)  # and step by step in between


def test_the_thesis_drops_at_30_60_and_80_epochs() -> None:
    plan, steps = thesis(4096, "gradual"), 100
    at = (30 * steps - 1, 30 * steps, 60 * steps, 80 * steps, 90 * steps)
    assert [plan.learning_rate(step) for step in at] == pytest.approx([1.6, 0.16, 0.016, 0.0016, 0.0016])
    facts = plan.facts()
    assert facts.warmup_steps == 500
    assert facts.decay_points == [3000, 6000, 8000]
    assert facts.full_learning_rate == pytest.approx(1.6)


@pytest.mark.parametrize("batch", [64, 256, 8192])
def test_a_recipe_reads_the_same_at_every_batch(batch: int) -> None:
    keys = {"warmup": "gradual", "warmup_start_factor": 0.0, "schedule": "cosine"}
    plans = {
        b: make_schedule(resolve_recipe(Recipe.model_validate({"global_batch": b, **keys})), 409_600, 90 * 409_600 // b)
        for b in (16, batch)
    }
    for epoch in (0, 1, 2.5, 5, 10, 45, 89):
        mine, theirs = (plan.learning_rate(round(epoch * 409_600 / b)) for b, plan in plans.items())
        assert mine == pytest.approx(theirs, abs=1e-3)


@pytest.mark.parametrize(
    ("keys", "epochs", "expected"),
    [
        ({"schedule": "constant"}, (0, 50, 99), [1, 1, 1]),
        ({"schedule": "linear", "end_learning_rate_factor": 0.1}, (0, 45, 90, 99), [1, 0.55, 0.1, 0.1]),
        ({"schedule": "linear"}, (90,), [0.01]),
        ({"learning_rate_decay_steps": 1000, "end_learning_rate_factor": 0.2}, (0, 5, 10, 80), [1, 0.6, 0.2, 0.2]),
        ({"schedule": "polynomial"}, (0, 30, 45, 90), [1, 4 / 9, 0.25, 0]),
        ({"schedule": "polynomial", "polynomial_power": 1.0}, (45,), [0.5]),
        ({"schedule": "cosine"}, (0, 30, 45, 60, 90), [1, 0.75, 0.5, 0.25, 0]),
        ({"schedule": "cosine", "schedule_length": "10 epochs"}, (5, 10, 50), [0.5, 0, 0]),
        ({"schedule": "exponential", "schedule_length": "30 epochs"}, (0, 30, 60), [1, 0.1, 0.01]),
        ({"schedule": "steps", "drop_at": ["128000 examples", "1000 steps"]}, (0, 4.99, 5, 10), [1, 1, 0.1, 0.01]),
        (
            {"schedule": "one_cycle", "cycle_peak": 0.5, "cycle_start_factor": 0.1, "end_learning_rate_factor": 0.0},
            (0, 22.5, 45, 67.5, 90),
            [0.1, 0.55, 1, 0.5, 0],
        ),
        ({"schedule": "linear", "warmup": "gradual", "warmup_length": "10 epochs", "end_learning_rate_factor": 0.0,
          "warmup_start_factor": 0.0}, (0, 5, 10, 50, 90), [0, 0.5, 1, 0.5, 0]),
        ({"warmup": "stepping", "warmup_length": "3 epochs"}, (0, 1, 2, 3), [0.25, 0.5, 0.75, 1]),
        ({"warmup": "stepping", "warmup_length": "50 steps"}, (0, 0.49, 0.5), [0.5, 0.5, 1]),
        ({"warmup": "gradual", "warmup_length": "0 steps"}, (0,), [1]),
    ],
)  # fmt: skip
def test_schedules_by_hand(keys: dict[str, Any], epochs: tuple[float, ...], expected: list[float]) -> None:
    assert rates(schedule(**keys), *epochs) == pytest.approx(expected, abs=1e-12)


def test_one_cycle_mirrors_its_momentum() -> None:
    plan = schedule(schedule="one_cycle", momentum=0.95, cycle_momentum=0.85, cycle_peak=0.5)
    assert [plan.momentum(step) for step in (0, 2250, 4500, 6750, 9000)] == pytest.approx([0.95, 0.9, 0.85, 0.9, 0.95])
    assert schedule(momentum=0.8).momentum(5) == 0.8
    assert schedule(optimizer="sgd").momentum(5) == 0.0


def test_a_gradual_warmup_begins_at_a_microbatchs_share_where_nothing_is_scaled() -> None:
    plan = schedule(warmup="gradual", microbatch=64)
    assert plan.learning_rate(0) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("keys", "last_step", "words"),
    [
        ({"warmup": "stepping", "warmup_length": "91 epochs"}, 9000, "longer than the run"),
        ({"schedule": "one_cycle"}, None, "needs a length"),
        ({"schedule": "one_cycle", "warmup": "gradual"}, 9000, "warms up by itself"),
        ({"schedule": "cosine", "schedule_length": "4 epochs", "warmup": "gradual"}, 9000, "before the warmup"),
        ({"schedule_length": "4 epochs", "learning_rate_decay_steps": 5}, 9000, "set one"),
        ({"schedule": "steps", "drop_at": []}, 9000, "needs recipe.drop_at"),
        ({"schedule": "steps", "learning_rate_decay_steps": 5}, 9000, "has no effect"),
    ],
)
def test_contradictions_are_refused(keys: dict[str, Any], last_step: int | None, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        schedule(last_step, **keys)
