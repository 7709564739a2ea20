"""Optimizers by name, and the one rule for which parameters weight decay leaves out."""

import torch
from torch import Tensor
from torch.optim import Optimizer

from scalewise.config import Recipe


def is_decayed(parameter: Tensor) -> bool:
    """Say whether weight decay applies: to matrices and filters, not to biases and normalisation parameters."""
    return parameter.ndim > 1


def make_optimizer(recipe: Recipe, decayed: Tensor, exempt: Tensor) -> Optimizer:
    """Make the recipe's optimizer over the two flat vectors that hold all weights."""
    groups = [
        {"params": [decayed], "weight_decay": recipe.weight_decay},
        {"params": [exempt], "weight_decay": 0.0},
    ]
    momentum = 0.0 if recipe.optimizer == "sgd" else recipe.momentum
    nesterov = recipe.optimizer == "nesterov_momentum" and momentum > 0
    optimizer = torch.optim.SGD(groups, lr=0.0, momentum=momentum, nesterov=nesterov, fused=True)
    _create_state(optimizer)
    return optimizer


def _create_state(optimizer: Optimizer) -> None:
    """Create the state that torch creates at the first step, all zeros, so that it can be saved and loaded before it.

    A step at rate 0 with zero gradients moves no weight. Zeros are what every optimizer of torch starts from.
    """
    optimizer.step()
    for slots in optimizer.state.values():
        for slot in slots.values():
            if isinstance(slot, Tensor):
                slot.zero_()
