"""Learning-rate scaling: from the rate that suits a reference batch to the rate of the run's global batch."""

import math

from scalewise.config import Recipe


def full_learning_rate(recipe: Recipe) -> float:
    """Return the rate that warmup goes up to and the schedule goes down from.

    Linear: Goyal et al. 2017, arXiv:1706.02677. Square root: Krizhevsky 2014, arXiv:1404.5997.

    >>> full_learning_rate(Recipe(learning_rate=0.1, reference_batch=256, global_batch=4096, scaling="linear"))
    1.6
    >>> full_learning_rate(Recipe(learning_rate=0.1, reference_batch=256, global_batch=4096, scaling="square_root"))
    0.4
    """
    ratio = recipe.global_batch / recipe.reference_batch
    return recipe.learning_rate * {"none": 1.0, "linear": ratio, "square_root": math.sqrt(ratio)}[recipe.scaling]
