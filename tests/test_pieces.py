"""The smaller pieces of a recipe, one by one."""

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from scalewise.cluster.world import World
from scalewise.config import Recipe
from scalewise.data.augmentation import flip_and_crop, resized
from scalewise.data.order import ExampleOrder
from scalewise.errors import ConfigError
from scalewise.loop.adasum import AdasumTotal
from scalewise.models.residual import zero_residual_branches
from scalewise.models.resnet import resnet_8
from scalewise.optim.averaging import Average
from scalewise.optim.flat import flatten, layout_with
from scalewise.optim.gradients import Gradients
from scalewise.optim.takeover import take_over_batch_norm
from scalewise.recipe.batch import Batch, batch_of
from scalewise.recipe.resolve import resolve_recipe


def test_ghost_batches_are_normalised_one_by_one() -> None:
    torch.manual_seed(0)
    original = nn.BatchNorm2d(4)
    inputs = torch.randn(10, 4, 3, 3) + torch.arange(10.0).reshape(-1, 1, 1, 1)
    ours, moments = take_over_batch_norm(copy.deepcopy(original), lambda model: model(inputs), ghost_batch=4)
    assert moments is not None
    expected = torch.cat([original(part) for part in inputs.split([4, 4, 2])])
    assert torch.allclose(ours(inputs), expected, atol=1e-6)
    moments.move_running_statistics(moments.sums)
    whole = nn.BatchNorm2d(4)  # the running statistics are those of all ten examples together
    whole(inputs)
    assert whole.running_mean is not None and whole.running_var is not None
    assert torch.allclose(moments.statistics[0], whole.running_mean, atol=1e-6)
    assert torch.allclose(moments.statistics[1], whole.running_var, rtol=1e-5)


def test_ghosts_need_batch_normalisation_and_fit_into_the_microbatch() -> None:
    with pytest.raises(ConfigError, match="no batch normalisation"):
        take_over_batch_norm(nn.Linear(2, 2), lambda model: model(torch.zeros(4, 2)), ghost_batch=4)
    with pytest.raises(ConfigError, match="larger than the microbatch"):
        batch_of(resolve_recipe(Recipe(global_batch=64, microbatch=16, ghost_batch=32)))
    assert batch_of(resolve_recipe(Recipe(global_batch=4096, ghost_batch=128))).microbatch == 128
    assert batch_of(resolve_recipe(Recipe(global_batch=4096, ghost_batch=48))).microbatch == 96


def test_the_average_has_its_half_life_in_examples() -> None:
    for batch in (1, 10, 50):
        weights = torch.zeros(3)
        average = Average([weights], half_life_examples=100, global_batch=batch)
        weights.fill_(1.0)
        for _ in range(100 // batch):
            average.update()
        assert torch.allclose(average.vectors[0], torch.full((3,), 0.5), atol=1e-5)
        with average.in_place():
            assert torch.allclose(weights, torch.full((3,), 0.5), atol=1e-5)
        assert torch.equal(weights, torch.ones(3))


def test_flips_and_crops_are_cuts_of_the_image() -> None:
    torch.manual_seed(0)
    images = torch.rand(64, 3, 8, 8) + 1
    seeds = ExampleOrder(seed=0, examples=64).seeds(0, 64)
    out = flip_and_crop(images, seeds)
    assert out.shape == images.shape
    padded = F.pad(images, (4, 4, 4, 4))
    flips = 0
    for image, wide in zip(out, padded, strict=True):
        windows = [wide[:, top : top + 8, left : left + 8] for top in range(9) for left in range(9)]
        straight = any(torch.equal(image, window) for window in windows)
        mirrored = any(torch.equal(image, window.flip(2)) for window in windows)
        assert straight or mirrored
        flips += mirrored and not straight
    assert 16 < flips < 48
    shuffled = torch.randperm(64)  # neighbours change nothing
    assert torch.equal(flip_and_crop(images[shuffled], seeds[shuffled]), out[shuffled])


def test_images_are_resized() -> None:
    images = torch.full((2, 3, 32, 32), 0.5)
    assert resized(images, 16).shape == (2, 3, 16, 16)
    assert torch.allclose(resized(images, 16), torch.tensor(0.5))
    assert resized(images, None) is images


def test_zeroed_branches_leave_the_shortcuts() -> None:
    torch.manual_seed(0)
    images = torch.randn(4, 3, 16, 16)
    model, _ = take_over_batch_norm(resnet_8((3, 16, 16), 10), lambda model: model(images))
    zero_residual_branches(model)
    zeroed = [name for name, parameter in model.named_parameters() if not parameter.any() and "weight" in name]
    assert zeroed == ["3.branch_end.weight", "4.branch_end.weight", "5.branch_end.weight"]
    with pytest.raises(ConfigError, match="branch_end"):
        zero_residual_branches(nn.Linear(2, 2))


@pytest.mark.parametrize(("clip", "expected"), [(10.0, [3.0, 4.0]), (2.5, [1.5, 2.0]), (None, [3.0, 4.0])])
def test_gradients_are_clipped_to_a_length(clip: float | None, expected: list[float]) -> None:
    summed = torch.tensor([3.0, 4.0])
    gradients = Gradients(summed, None, clip)
    assert gradients.make_ready()
    assert gradients.vector.tolist() == pytest.approx(expected)
    assert summed.tolist() == [3.0, 4.0]  # workers may share the sum


def combine_by_adasum(vectors: list[torch.Tensor]) -> torch.Tensor:
    """Send the mean gradients of microbatches of one example through Adasum."""
    model = nn.Linear(len(vectors[0]), 1, bias=False)
    weights = flatten(model)
    layout = layout_with(weights, (1,))
    batch = Batch(examples=len(vectors), microbatch=1)
    total = AdasumTotal(layout, weights, torch.device("cpu"), batch, World())
    for index, vector in enumerate(vectors):
        total.add(index, [vector.reshape(1, -1) / len(vectors), torch.ones(1)])
    total.finish()
    assert total.pieces[1].item() == len(vectors)  # what is not a gradient is added up
    return total.pieces[0].flatten().clone()


def adasum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (1 - a @ b / (2 * a @ a)) * a + (1 - a @ b / (2 * b @ b)) * b


def test_adasum_by_its_formula() -> None:
    torch.manual_seed(0)
    a, b, c = torch.randn(3, 20)
    assert torch.allclose(combine_by_adasum([a, b]), adasum(a, b), atol=1e-6)
    assert torch.allclose(combine_by_adasum([a, b, c]), adasum(adasum(a, b), c), atol=1e-6)
    assert torch.allclose(combine_by_adasum([a, a, a, a]), a, atol=1e-6)  # the same: the mean
    x, y = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0])
    assert combine_by_adasum([x, y]).tolist() == [1.0, 2.0]  # at right angles: the sum
    assert combine_by_adasum([x, 0 * x]).tolist() == [1.0, 0.0]


def test_sections_of_a_recipe_that_do_not_parse() -> None:
    def refused(**keys: Any) -> str:
        with pytest.raises(ValueError) as caught:
            Recipe.model_validate(keys)
        return str(caught.value)

    assert "a duration such as '5 epochs'" in refused(warmup_length="5 weeks")
    assert "less than or equal to 1" in refused(lars_coefficient=7)
