"""Learning-rate schedules: plain functions of the step."""

from scalewise.config import Recipe


def linear_decay(initial: float, decay_steps: int, end_factor: float, step: int) -> float:
    """Go down in a straight line from `initial` to `end_factor * initial`, then stay there.

    >>> [linear_decay(1.0, 4, 0.2, step) for step in (0, 2, 4, 9)]
    [1.0, 0.6, 0.2, 0.2]
    """
    progress = min(step / decay_steps, 1.0)
    return initial * (1.0 - progress + end_factor * progress)


def learning_rate(recipe: Recipe, step: int) -> float:
    """Return the rate of the step that comes after `step` steps."""
    if recipe.learning_rate_decay_steps is None:
        return recipe.learning_rate
    return linear_decay(recipe.learning_rate, recipe.learning_rate_decay_steps, recipe.end_learning_rate_factor, step)
