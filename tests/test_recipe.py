"""Optimizers and schedules against plain NumPy transcriptions of their formulas."""

import numpy as np
import pytest
import torch
from torch import nn

from scalewise.config import Recipe
from scalewise.recipe.flat import flatten
from scalewise.recipe.optimizers import make_optimizer
from scalewise.recipe.schedules import learning_rate


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "nesterov_momentum"])
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
def test_optimizers_follow_their_formula(optimizer: str, weight_decay: float) -> None:
    recipe = Recipe.model_validate(
        {"optimizer": optimizer, "weight_decay": weight_decay, "learning_rate": 0.1, "learning_rate_decay_steps": 60}
    )
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3))
    weights = flatten(model)
    gradients = torch.zeros_like(weights.vector)
    ours = make_optimizer(recipe, weights, gradients)

    expected = {name: p.detach().numpy().astype(np.float64) for name, p in model.named_parameters()}
    buffers = {name: np.zeros_like(value) for name, value in expected.items()}
    generator = np.random.default_rng(0)
    for step in range(100):
        rate = learning_rate(recipe, step)
        for name, piece in weights.by_name(gradients).items():
            gradient = generator.normal(size=expected[name].shape)
            piece.copy_(torch.from_numpy(gradient))
            decay = weight_decay if expected[name].ndim > 1 else 0.0  # biases are left out
            gradient = gradient + decay * expected[name]
            buffers[name] = (0.9 if optimizer != "sgd" else 0.0) * buffers[name] + gradient
            update = gradient + 0.9 * buffers[name] if optimizer == "nesterov_momentum" else buffers[name]
            expected[name] = expected[name] - rate * update
        ours.step(rate)
    for name, parameter in model.named_parameters():
        np.testing.assert_allclose(parameter.detach().numpy(), expected[name], rtol=1e-5, atol=1e-6)


def test_linear_decay_by_hand() -> None:
    recipe = Recipe(learning_rate=0.5, learning_rate_decay_steps=10, end_learning_rate_factor=0.1)
    assert [learning_rate(recipe, step) for step in (0, 5, 10, 99)] == pytest.approx([0.5, 0.275, 0.05, 0.05])
    assert learning_rate(Recipe(learning_rate=0.5), 10**6) == 0.5


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
    optimizer = make_optimizer(Recipe(weight_decay=0.1), weights, torch.zeros_like(weights.vector))
    optimizer.step(0.1)
    assert weights.exempt_from == len(weights.vector)
