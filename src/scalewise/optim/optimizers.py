"""Optimizers by name."""

from torch import Tensor

from scalewise.optim.flat import FlatWeights
from scalewise.optim.layerwise import Lamb, Lars
from scalewise.optim.optimizer import Optimizer
from scalewise.optim.plain_optimizers import AdamW, Momentum, RMSProp
from scalewise.recipe.resolve import ResolvedRecipe


def make_optimizer(recipe: ResolvedRecipe, weights: FlatWeights, gradients: Tensor) -> Optimizer:
    """Make the recipe's optimizer over the weights and the vector that begins with their gradients."""
    decay, second_moment, epsilon = recipe.weight_decay, recipe.second_moment or 0.0, recipe.epsilon or 0.0
    match recipe.optimizer:
        case "sgd":
            return Momentum(weights, gradients, remembers=False, nesterov=False, weight_decay=decay)
        case "momentum" | "nesterov_momentum":
            nesterov = recipe.optimizer == "nesterov_momentum"
            return Momentum(weights, gradients, remembers=True, nesterov=nesterov, weight_decay=decay)
        case "rmsprop":
            return RMSProp(weights, gradients, second_moment, epsilon, decay)
        case "adamw":
            return AdamW(weights, gradients, second_moment, epsilon, decay)
        case "lars":
            return Lars(weights, gradients, recipe.lars_coefficient, decay)
        case "lamb":
            return Lamb(weights, gradients, second_moment, epsilon, decay)
