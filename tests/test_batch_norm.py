"""Batch normalisation by microbatches, with the running statistics of the whole global batch."""

import copy

import pytest
import torch
from torch import nn

from scalewise.errors import ConfigError, WorkloadError
from scalewise.optim.batch_norm import MicrobatchNorm
from scalewise.optim.takeover import take_over_batch_norm

_INPUTS = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))


def test_one_microbatch_is_what_torch_does() -> None:
    torch.manual_seed(0)
    original = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, momentum=0.2), nn.Flatten(), nn.BatchNorm1d(64))
    ours, moments = take_over_batch_norm(copy.deepcopy(original), torch.randn(4, 2, 6, 6))
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
    model, moments = take_over_batch_norm(nn.BatchNorm1d(8, momentum=1.0), inputs)
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
    model, _ = take_over_batch_norm(nn.Sequential(shared, nn.ReLU(), shared), _INPUTS)
    assert isinstance(model, nn.Sequential)
    assert model[0] is model[2]


def test_layers_without_running_statistics_are_left_alone() -> None:
    model, moments = take_over_batch_norm(nn.BatchNorm1d(4, track_running_stats=False), _INPUTS)
    assert isinstance(model, nn.BatchNorm1d)
    assert moments is None


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(WorkloadError, match="momentum=None"):
        take_over_batch_norm(nn.BatchNorm1d(4, momentum=None), _INPUTS)
    model, _ = take_over_batch_norm(nn.BatchNorm1d(4), _INPUTS)
    with pytest.raises(ConfigError, match="at least 2 values"):
        model(torch.randn(1, 4))


class NormAct(nn.BatchNorm1d):
    """Holds its activation, as timm's `BatchNormAct2d` does."""

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return super().forward(inputs).relu()


class Preset(nn.BatchNorm1d):
    """Only has other defaults."""

    def __init__(self, features: int) -> None:
        super().__init__(features, eps=1e-3, momentum=0.01)


class Doubled(nn.Module):
    """Does more after its batch normalisation than the layers say: it looks at their class."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        normalised: torch.Tensor = self.norm(inputs)
        return 2 * normalised if isinstance(self.norm, nn.BatchNorm1d) else normalised


def test_a_layer_that_does_more_than_normalise_is_refused_by_name() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(NormAct(4)))
    with pytest.raises(WorkloadError, match=r"'1\.0'.*NormAct.*a forward of its own.*nn\.BatchNorm2d"):
        take_over_batch_norm(model, _INPUTS)
    assert isinstance(model[1], nn.Sequential) and isinstance(model[1][0], NormAct)
    with pytest.raises(WorkloadError, match="SyncBatchNorm"):
        take_over_batch_norm(nn.SyncBatchNorm(4), _INPUTS)
    hooked = nn.BatchNorm1d(4)
    hooked.register_forward_hook(lambda module, inputs, outputs: outputs.relu())
    with pytest.raises(WorkloadError, match="hooks"):
        take_over_batch_norm(hooked, _INPUTS)


def test_a_layer_that_only_has_other_defaults_is_taken_over() -> None:
    original = nn.Sequential(Preset(4), nn.Dropout(0.5), nn.Linear(4, 2))
    ours, moments = take_over_batch_norm(copy.deepcopy(original), _INPUTS)
    assert moments is not None
    assert torch.equal(ours.eval()(_INPUTS), original.eval()(_INPUTS))
    for name, tensor in original.state_dict().items():
        assert torch.equal(ours.state_dict()[name], tensor), name  # comparing has left no trace


def test_a_network_that_computes_something_else_afterwards_is_refused() -> None:
    with pytest.raises(WorkloadError, match="other outputs in training mode"):
        take_over_batch_norm(Doubled(), _INPUTS)
