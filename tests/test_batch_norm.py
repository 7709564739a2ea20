"""Batch normalisation by microbatches, with the running statistics of the whole global batch."""

import copy

import pytest
import torch
from torch import nn

from scalewise.errors import ConfigError, WorkloadError
from scalewise.recipe.batch_norm import MicrobatchNorm, take_over_batch_norm


def test_one_microbatch_is_what_torch_does() -> None:
    torch.manual_seed(0)
    original = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, momentum=0.2), nn.Flatten(), nn.BatchNorm1d(64))
    ours, moments = take_over_batch_norm(copy.deepcopy(original))
    assert moments is not None
    for _ in range(3):
        inputs = 5 + 3 * torch.randn(16, 2, 6, 6)
        moments.clear()
        assert torch.allclose(ours(inputs), original(inputs), atol=1e-6)
        moments.move_running_statistics(moments.sums)
    for name, tensor in original.state_dict().items():
        assert torch.allclose(ours.state_dict()[name], tensor, rtol=1e-5, atol=1e-6), name
    assert torch.allclose(ours.eval()(inputs), original.eval()(inputs), atol=1e-5)


def test_running_statistics_are_those_of_the_whole_global_batch() -> None:
    torch.manual_seed(0)
    inputs = 100 + 0.1 * torch.randn(60, 8, dtype=torch.float64).float()  # far from zero: the sums must keep digits
    model, moments = take_over_batch_norm(nn.BatchNorm1d(8, momentum=1.0))
    assert moments is not None and isinstance(model, MicrobatchNorm)
    for _ in range(2):
        totals = torch.zeros_like(moments.sums)
        for part in inputs.split([25, 25, 10]):
            moments.clear()
            model(part)
            totals += moments.sums
        moments.move_running_statistics(totals)
    assert torch.allclose(model.running_mean, inputs.mean(dim=0), rtol=1e-6)
    assert torch.allclose(model.running_var, inputs.var(dim=0), rtol=1e-4)
    assert model.num_batches_tracked == 2


def test_a_layer_used_twice_is_one_layer() -> None:
    shared = nn.BatchNorm1d(4)
    model, _ = take_over_batch_norm(nn.Sequential(shared, nn.ReLU(), shared))
    assert isinstance(model, nn.Sequential)
    assert model[0] is model[2]


def test_layers_without_running_statistics_are_left_alone() -> None:
    model, moments = take_over_batch_norm(nn.BatchNorm1d(4, track_running_stats=False))
    assert isinstance(model, nn.BatchNorm1d)
    assert moments is None


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(WorkloadError, match="momentum=None"):
        take_over_batch_norm(nn.BatchNorm1d(4, momentum=None))
    model, _ = take_over_batch_norm(nn.BatchNorm1d(4))
    with pytest.raises(ConfigError, match="at least 2 values"):
        model(torch.randn(1, 4))
