"""All weights in one vector."""

import torch
from torch import nn

from scalewise.config import Recipe
from scalewise.optim.flat import flatten
from scalewise.optim.optimizers import make_optimizer
from scalewise.recipe.resolve import resolve_recipe


def test_flat_weights_are_the_networks_own() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 5, 3), nn.Flatten(), nn.Linear(20, 2))
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    weights = flatten(model)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name])
        assert parameter.data_ptr() % 64 == weights.vector.data_ptr() % 64
    assert weights.names == ["0.weight", "2.weight", "0.bias", "2.bias"]  # the decayed ones first
    weights.vector.zero_()
    assert all(not parameter.any() for parameter in model.parameters())


def test_a_network_without_biases_has_nothing_exempt() -> None:
    weights = flatten(nn.Linear(3, 2, bias=False))
    optimizer = make_optimizer(resolve_recipe(Recipe(weight_decay=0.1)), weights, torch.zeros_like(weights.vector))
    optimizer.step(0.1, 0.9, 1)
    assert weights.exempt_from == len(weights.vector)
