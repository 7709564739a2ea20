"""Every optimizer against a plain NumPy transcription of its formula, in float64."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import nn

from scalewise.config import Recipe
from scalewise.optim.flat import flatten
from scalewise.optim.optimizers import make_optimizer
from scalewise.recipe.resolve import resolve_recipe
from scalewise.recipe.schedules import make_schedule

Array = npt.NDArray[np.float64]
Memory = dict[str, Array]
Rule = Callable[[Array, Array, Memory, float, float, float, int], Array]
"""From weights, gradient, memory, rate, momentum, weight decay and the update's number to new weights."""


def sgd(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    return w - rate * (g + decay * w)


def momentum_rule(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    memory["v"] = momentum * memory.get("v", 0 * w) + g + decay * w
    return w - rate * memory["v"]


def nesterov(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    memory["v"] = momentum * memory.get("v", 0 * w) + g + decay * w
    return w - rate * (g + decay * w + momentum * memory["v"])


def rmsprop(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    g = g + decay * w
    memory["s"] = 0.99 * memory.get("s", 0 * w) + 0.01 * g**2
    memory["v"] = momentum * memory.get("v", 0 * w) + g / (np.sqrt(memory["s"]) + 1e-8)
    return w - rate * memory["v"]


def adam_direction(g: Array, memory: Memory, momentum: float, number: int, epsilon: float) -> Array:
    memory["m"] = momentum * memory.get("m", 0 * g) + (1 - momentum) * g
    memory["s"] = 0.999 * memory.get("s", 0 * g) + 0.001 * g**2
    mean, square = memory["m"] / (1 - momentum**number), memory["s"] / (1 - 0.999**number)
    return np.asarray(mean / (np.sqrt(square) + epsilon))


def adamw(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    return w - rate * decay * w - rate * adam_direction(g, memory, momentum, number, 1e-8)


def lars(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    size, slope, ratio = float(np.linalg.norm(w)), float(np.linalg.norm(g)), 1.0
    if w.ndim > 1 and size > 0 and slope > 0:
        ratio = 0.001 * size / (slope + decay * size)
    memory["v"] = momentum * memory.get("v", 0 * w) + rate * ratio * (g + decay * w)
    return w - memory["v"]


def lamb(w: Array, g: Array, memory: Memory, rate: float, momentum: float, decay: float, number: int) -> Array:
    update = adam_direction(g, memory, momentum, number, 1e-6) + decay * w
    size, length, ratio = float(np.linalg.norm(w)), float(np.linalg.norm(update)), 1.0
    if w.ndim > 1 and size > 0 and length > 0:
        ratio = size / length
    return np.asarray(w - rate * ratio * update)


# Rates at which a hundred steps move the weights by about their own size.
RULES: dict[str, tuple[Rule, float]] = {
    "sgd": (sgd, 0.01),
    "momentum": (momentum_rule, 0.003),
    "nesterov_momentum": (nesterov, 0.003),
    "rmsprop": (rmsprop, 0.001),
    "adamw": (adamw, 0.01),
    "lars": (lars, 1.0),
    "lamb": (lamb, 0.01),
}


def network() -> nn.Sequential:
    """Convolution, normalisation and dense layers, one of them all zeros and one that never has a gradient."""
    torch.manual_seed(0)
    empty = nn.Linear(12, 4)
    nn.init.zeros_(empty.weight)
    return nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Flatten(), empty, nn.Linear(4, 4))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
@pytest.mark.parametrize("schedule", ["cosine", "one_cycle"])
def test_a_hundred_steps_follow_the_formula(name: str, weight_decay: float, schedule: str) -> None:
    rule, rate = RULES[name]
    recipe = Recipe.model_validate(
        {"optimizer": name, "weight_decay": weight_decay, "learning_rate": rate, "schedule": schedule}
    )
    plan = make_schedule(resolve_recipe(recipe), train_examples=1000, last_step=120)
    model = network()
    weights = flatten(model)
    gradients = torch.zeros(len(weights.vector) + 32)  # behind the gradients comes what else is summed
    optimizer = make_optimizer(resolve_recipe(recipe), weights, gradients)

    expected = {key: value.detach().numpy().astype(np.float64) for key, value in model.named_parameters()}
    memories: dict[str, Memory] = {key: {} for key in expected}
    generator = np.random.default_rng(0)
    for step in range(100):
        rate, momentum = plan.learning_rate(step), plan.momentum(step)
        for key, piece in weights.by_name(gradients).items():
            gradient = generator.normal(size=expected[key].shape).astype(np.float32).astype(np.float64)
            gradient *= 0.0 if key == "4.weight" and step % 2 else 1.0  # a layer without a gradient now and then
            piece.copy_(torch.from_numpy(gradient))
            decay = weight_decay if expected[key].ndim > 1 else 0.0  # biases and normalisation are left out
            expected[key] = rule(expected[key], gradient, memories[key], rate, momentum, decay, step + 1)
        before = gradients.clone()
        optimizer.step(rate, momentum, step + 1)
        assert torch.equal(gradients, before), "an optimizer wrote to the gradients, which workers may share"
    for key, parameter in model.named_parameters():
        np.testing.assert_allclose(parameter.detach().numpy(), expected[key], rtol=1e-6, atol=1e-6, err_msg=key)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("sgd", lambda p, d: torch.optim.SGD(p, lr=0.01, weight_decay=d)),
        ("momentum", lambda p, d: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=d)),
        ("nesterov_momentum", lambda p, d: torch.optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=d)),
        ("rmsprop", lambda p, d: torch.optim.RMSprop(p, lr=0.01, momentum=0.9, weight_decay=d)),
        ("adamw", lambda p, d: torch.optim.AdamW(p, lr=0.01, weight_decay=d)),
    ],
)
def test_torchs_optimizers_do_the_same(
    name: str, reference: Callable[[list[nn.Parameter], float], torch.optim.Optimizer]
) -> None:
    ours, theirs = network(), network()
    weights = flatten(ours)
    gradients = torch.zeros_like(weights.vector)
    recipe = Recipe.model_validate({"optimizer": name, "weight_decay": 0.01})
    optimizer = make_optimizer(resolve_recipe(recipe), weights, gradients)
    parameters = list(theirs.parameters())
    others = [
        reference([p for p in parameters if p.ndim > 1], 0.01),
        reference([p for p in parameters if p.ndim == 1], 0.0),
    ]
    pieces = weights.by_name(gradients)
    for step in range(50):
        for key, parameter in theirs.named_parameters():
            parameter.grad = torch.randn_like(parameter)
            pieces[key].copy_(parameter.grad)
        optimizer.step(0.01, 0.0 if name == "sgd" else 0.9, step + 1)
        for other in others:
            other.step()
    for (key, mine), their in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(mine, their, rtol=1e-5, atol=1e-6), key


@pytest.mark.parametrize("name", RULES)
def test_a_network_of_one_matrix_or_of_one_bias(name: str) -> None:
    for shape in ((3, 2), (3,)):
        model = nn.Module()
        model.weight = nn.Parameter(torch.ones(shape))
        weights = flatten(model)
        recipe = Recipe.model_validate({"optimizer": name, "weight_decay": 0.1})
        make_optimizer(resolve_recipe(recipe), weights, torch.ones_like(weights.vector)).step(0.1, 0.9, 1)
        assert (model.weight < 1).all() and model.weight.isfinite().all()
