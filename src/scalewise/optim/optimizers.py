"""Optimizers by name."""

from torch import Tensor

from scalewise.config import AUTO, Recipe
from scalewise.optim.flat import FlatWeights
from scalewise.optim.layerwise import Lamb, Lars
from scalewise.optim.optimizer import Optimizer
from scalewise.optim.plain_optimizers import AdamW, Momentum, RMSProp


def make_optimizer(recipe: Recipe, weights: FlatWeights, gradients: Tensor) -> Optimizer:
    """Make the recipe's optimizer over the weights and the vector that begins with their gradients."""
    decay = recipe.weight_decay
    match recipe.optimizer:
        case "sgd":
            return Momentum(weights, gradients, remembers=False, nesterov=False, weight_decay=decay)
        case "momentum" | "nesterov_momentum":
            nesterov = recipe.optimizer == "nesterov_momentum"
            return Momentum(weights, gradients, remembers=True, nesterov=nesterov, weight_decay=decay)
        case "rmsprop":
            return RMSProp(weights, gradients, _second_moment(recipe), _epsilon(recipe), decay)
        case "adamw":
            return AdamW(weights, gradients, _second_moment(recipe), _epsilon(recipe), decay)
        case "lars":
            return Lars(weights, gradients, recipe.lars_coefficient, decay)
        case "lamb":
            return Lamb(weights, gradients, _second_moment(recipe), _epsilon(recipe), decay)


def _second_moment(recipe: Recipe) -> float:
    """Say what `auto` stands for."""
    if recipe.second_moment != AUTO:
        return recipe.second_moment
    return 0.99 if recipe.optimizer == "rmsprop" else 0.999


def _epsilon(recipe: Recipe) -> float:
    """Say what `auto` stands for."""
    if recipe.epsilon != AUTO:
        return recipe.epsilon
    return 1e-6 if recipe.optimizer == "lamb" else 1e-8
