"""Batch normalisation by microbatches, with the running statistics of the whole global batch."""

import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from scalewise.errors import ConfigError, WorkloadError
from scalewise.optim.batch_norm import MicrobatchNorm, Moments
from scalewise.optim.takeover import take_over_batch_norm

_INPUTS = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))


def put_through(model: nn.Module) -> Any:
    return model(_INPUTS)


def taken_over(model: nn.Module, forward: Callable[[nn.Module], Any] = put_through) -> tuple[Any, Moments]:
    ours, moments = take_over_batch_norm(copy.deepcopy(model), forward)
    assert moments is not None
    return ours, moments


def test_one_microbatch_is_what_torch_does() -> None:
    torch.manual_seed(0)
    original = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, momentum=0.2), nn.Flatten(), nn.BatchNorm1d(64))
    images = torch.randn(4, 2, 6, 6)
    ours, moments = taken_over(original, lambda model: model(images))
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
    model, moments = taken_over(nn.BatchNorm1d(8, momentum=1.0), lambda model: model(inputs))
    assert isinstance(model, MicrobatchNorm)
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
    ours, moments = taken_over(nn.Sequential(shared, nn.Linear(4, 4), shared))
    assert ours[0] is ours[2]
    ours(_INPUTS)
    assert moments.sums[0].tolist() == [8, 8, 8, 8]  # both uses count


def test_a_layer_that_backward_computes_again_counts_once() -> None:
    class Saving(nn.Sequential):
        def forward(self, inputs: Tensor) -> Tensor:
            return cast(Tensor, checkpoint(super().forward, inputs, use_reentrant=False))

    ours, moments = taken_over(Saving(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 4)))
    torch.autograd.grad(ours(_INPUTS).sum(), list(ours.parameters()))
    assert moments.sums[0].tolist() == [4, 4, 4, 4]


def test_a_layer_that_is_not_used_keeps_its_statistics() -> None:
    class Skipping(nn.Sequential):
        def forward(self, inputs: Tensor) -> Tensor:
            return cast(Tensor, self[0](inputs))

    ours, moments = taken_over(Skipping(nn.BatchNorm1d(4), nn.BatchNorm1d(4)))
    ours(_INPUTS)
    moments.move_running_statistics(moments.sums)
    assert [int(layer.num_batches_tracked) for layer in ours] == [1, 0]
    assert torch.equal(ours[1].running_var, torch.ones(4)) and not torch.equal(ours[0].running_var, torch.ones(4))


def test_layers_without_running_statistics_are_left_alone() -> None:
    model = nn.Sequential(
        nn.BatchNorm1d(4, track_running_stats=False), nn.LayerNorm(4), nn.GroupNorm(2, 4), nn.InstanceNorm1d(4)
    )
    ours, moments = take_over_batch_norm(model, put_through)
    assert ours is model and moments is None
    assert [type(layer) for layer in model] == [nn.BatchNorm1d, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm1d]


def test_what_cannot_be_shared_is_refused() -> None:
    with pytest.raises(WorkloadError, match="momentum=None"):
        taken_over(nn.BatchNorm1d(4, momentum=None))
    with pytest.raises(WorkloadError, match="SyncBatchNorm"):
        taken_over(nn.SyncBatchNorm(4))
    with pytest.raises(WorkloadError, match=r"running_mean and running_var, in float32"):
        taken_over(nn.Sequential(nn.BatchNorm1d(4).double(), nn.Linear(4, 2)))
    model, _ = taken_over(nn.BatchNorm1d(4))
    with pytest.raises(ConfigError, match="at least 2 values"):
        model(torch.randn(1, 4))
    with pytest.raises(WorkloadError, match="a new network every time"):
        take_over_batch_norm(model, put_through)


class NormAct(nn.BatchNorm1d):
    """Holds its activation and its dropout, as timm's `BatchNormAct2d` does, and copies what torch does."""

    def __init__(self, features: int) -> None:
        super().__init__(features)
        self.drop, self.act = nn.Dropout(0.2), nn.ReLU(inplace=True)

    def forward(self, inputs: Tensor) -> Tensor:
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        normalised = F.batch_norm(
            inputs,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training,
            self.momentum or 0.0,
            self.eps,
        )
        return cast(Tensor, self.act(self.drop(normalised)))


class OutOfPlace(nn.BatchNorm1d):
    """Computes by itself, and gives its statistics new tensors."""

    def forward(self, inputs: Tensor) -> Tensor:
        assert self.running_mean is not None and self.running_var is not None
        mean, variance = self.running_mean, self.running_var
        if self.training:
            momentum = self.momentum or 0.0
            mean, variance = inputs.mean(dim=0), inputs.var(dim=0, correction=0)
            self.running_mean = (1 - momentum) * self.running_mean + momentum * mean
            self.running_var = (1 - momentum) * self.running_var + momentum * inputs.var(dim=0)
        return (inputs - mean) / (variance + self.eps).sqrt() * self.weight + self.bias


class Preset(nn.BatchNorm1d):
    """Only has other defaults."""

    def __init__(self, features: int) -> None:
        super().__init__(features, eps=1e-3, momentum=0.01)


class Conditional(nn.BatchNorm1d):
    """Takes two tensors and gives two."""

    def forward(self, inputs: Tensor, scale: Tensor | None = None) -> Any:
        normalised = super().forward(inputs)
        return normalised if scale is None else (normalised * scale, normalised)


class Both(nn.Sequential):
    def forward(self, inputs: Tensor) -> Tensor:
        scaled, plain = self[0](inputs, scale=inputs[:, :1])
        return cast(Tensor, scaled + plain)


def hooked() -> nn.Module:
    layer = nn.BatchNorm1d(4)
    layer.register_forward_hook(lambda module, inputs, outputs: outputs.relu())
    layer.register_forward_pre_hook(lambda module, inputs: (2 * inputs[0] + 1,))
    return layer


def frozen() -> nn.Module:
    """Its batch normalisation has other statistics, and stays in evaluation mode."""

    class Frozen(nn.Sequential):
        def train(self, mode: bool = True) -> "Frozen":
            super().train(mode)
            for module in self.modules():
                if isinstance(module, nn.BatchNorm1d):
                    module.eval()
            return self

    network = Frozen(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))
    assert isinstance(network[1], nn.BatchNorm1d) and network[1].running_mean is not None
    network[1].running_mean += 3.0
    return network.train()


def without_gradients() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4).requires_grad_(False), nn.Linear(4, 4))


def used_twice() -> nn.Module:
    shared = NormAct(4)
    return nn.Sequential(shared, nn.Linear(4, 4), shared, nn.BatchNorm1d(4))


def parametrized() -> nn.Module:
    layer = nn.BatchNorm1d(4)
    nn.utils.parametrize.register_parametrization(layer, "weight", nn.Softplus())
    return nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 4)), layer)


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "its own activation and dropout": lambda: nn.Sequential(nn.Linear(4, 4), NormAct(4), nn.Linear(4, 4)),
    "statistics in new tensors": lambda: nn.Sequential(OutOfPlace(4), nn.Linear(4, 4)),
    "other defaults": lambda: nn.Sequential(Preset(4), nn.Dropout(0.5), nn.Linear(4, 2)),
    "several tensors": lambda: Both(Conditional(4)),
    "hooks": hooked,
    "parametrizations": parametrized,
    "frozen": frozen,
    "without gradients": without_gradients,
    "used twice": used_twice,
    "without scale and shift": lambda: nn.BatchNorm1d(4, affine=False),
}


@pytest.mark.parametrize("network", NETWORKS)
def test_a_layer_keeps_all_that_it_does(network: str) -> None:
    torch.manual_seed(0)
    original = NETWORKS[network]()
    ours, moments = taken_over(original)
    for name, tensor in original.state_dict().items():
        assert torch.equal(ours.state_dict()[name], tensor), name  # comparing has left no trace
    pairs = list(zip(original.modules(), ours.modules(), strict=True))
    assert all(isinstance(taken, type(own)) for own, taken in pairs if not hasattr(own, "parametrizations"))
    for step in range(3):
        inputs = 2 + torch.randn(8, 4)
        moments.clear()
        assert torch.equal(seeded(ours.train(), inputs, step), seeded(original.train(), inputs, step))
        moments.move_running_statistics(moments.sums)
    if network == "used twice":  # one move by both uses, where torch makes two
        return
    for name, tensor in original.named_buffers():
        if "tracked" not in name or network != "statistics in new tensors":  # which does not count
            assert torch.allclose(dict(ours.named_buffers())[name], tensor, rtol=1e-5, atol=1e-6), name
    assert torch.allclose(seeded(ours.eval(), inputs, 0), seeded(original.eval(), inputs, 0), atol=1e-5)


def seeded(model: nn.Module, inputs: Tensor, seed: int) -> Tensor:
    torch.manual_seed(seed)
    return cast(Tensor, model(inputs))


def test_ghost_batches_go_through_a_layers_own_forward() -> None:
    torch.manual_seed(0)
    layer = nn.Sequential(NormAct(4))
    layer[0].drop = nn.Identity()
    inputs = torch.randn(8, 4)
    expected = torch.cat([copy.deepcopy(layer)(part) for part in inputs.split(4)])
    ours, moments = take_over_batch_norm(layer, put_through, ghost_batch=4)
    assert moments is not None
    assert torch.equal(ours(inputs), expected)
    with pytest.raises(ConfigError, match=r"ghost_batch=4: the layer '0' .* more than one tensor"):
        take_over_batch_norm(Both(Conditional(4)), put_through, ghost_batch=4)


class FixedMomentum(nn.BatchNorm1d):
    """Ignores its momentum."""

    def forward(self, inputs: Tensor) -> Tensor:
        moving = (self.running_mean, self.running_var, self.weight, self.bias, self.training, 0.1)
        return F.batch_norm(inputs, *moving)


class OtherBuffers(nn.BatchNorm1d):
    """Keeps its statistics elsewhere."""

    def __init__(self, features: int) -> None:
        super().__init__(features)
        self.register_buffer("own_mean", torch.zeros(features))
        self.register_buffer("own_var", torch.ones(features))

    def forward(self, inputs: Tensor) -> Tensor:
        return F.batch_norm(inputs, self.own_mean, self.own_var, training=self.training)  # type: ignore[arg-type]


class Renormalising(nn.BatchNorm1d):
    """Uses its running statistics in training, as batch renormalisation does, but not in the first steps."""

    def forward(self, inputs: Tensor) -> Tensor:
        normalised = super().forward(inputs)
        assert self.running_mean is not None and self.running_var is not None
        late = self.num_batches_tracked is None or self.num_batches_tracked > 100
        return normalised * self.running_var.sqrt() + self.running_mean if late else normalised


class AlwaysMoving(nn.BatchNorm1d):
    """Moves its statistics in evaluation, too."""

    def forward(self, inputs: Tensor) -> Tensor:
        return F.batch_norm(inputs, self.running_mean, self.running_var, training=True, momentum=self.momentum or 0.0)


class Counting(nn.BatchNorm1d):
    """Needs its count."""

    def forward(self, inputs: Tensor) -> Tensor:
        assert self.num_batches_tracked is not None
        return super().forward(inputs)


def patched() -> nn.Module:
    layer = nn.BatchNorm1d(4)
    layer.forward = functools.partial(nn.BatchNorm1d.forward, layer)  # type: ignore[method-assign]
    return layer


REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "its momentum is ignored": (lambda: FixedMomentum(4, momentum=0.01), "does not keep its running statistics"),
    "its usual momentum is ignored": (lambda: FixedMomentum(4), "does not keep its running statistics"),
    "statistics elsewhere": (lambda: OtherBuffers(4), "does not keep its running statistics"),
    "statistics in training": (lambda: Renormalising(4), "gives other outputs in training mode"),
    "moving in evaluation": (lambda: AlwaysMoving(4), "moves its running statistics in evaluation mode"),
    "a count that is needed": (lambda: Counting(4), "fails once scalewise keeps its running statistics"),
    "a forward on the object": (patched, "set on the object"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_layer_that_is_more_than_its_statistics_is_refused_by_name(reason: str) -> None:
    layer, words = REFUSED[reason]
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.BatchNorm1d(4), layer()))
    with pytest.raises(WorkloadError, match=rf"'1\.1' of the workload's model, a .*{words}"):
        take_over_batch_norm(model, put_through)


class Doubled(nn.Module):
    """Does more after its batch normalisation than the layers say: it looks at their class."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, inputs: Tensor) -> dict[str, Any]:
        normalised: Tensor = self.norm(inputs)
        return {"scores": [2 * normalised if type(self.norm) is nn.BatchNorm1d else normalised]}


class Forgetful(nn.Sequential):
    """Draws from a generator of its own."""

    def __init__(self) -> None:
        super().__init__(nn.BatchNorm1d(4))
        self._generator = torch.Generator()

    def forward(self, inputs: Tensor) -> Tensor:
        return cast(Tensor, self[0](inputs)) + torch.rand(1, generator=self._generator)


def test_a_network_that_computes_something_else_afterwards_is_refused() -> None:
    with pytest.raises(WorkloadError, match=r"model gives other outputs in training mode.* their new class"):
        take_over_batch_norm(Doubled(), put_through)
    with pytest.raises(WorkloadError, match="other outputs each time"):
        take_over_batch_norm(Forgetful(), put_through)


@dataclass
class Outputs:
    scores: Tensor
    labels: Tensor
    more: Any = None


@pytest.mark.parametrize("part", ["scores", "labels", "more"])
def test_all_outputs_are_compared_whatever_they_are_in(part: str) -> None:
    class Different(nn.BatchNorm1d):
        pass

    class Wrapped(nn.Sequential):
        def forward(self, inputs: Tensor) -> Outputs:
            values = [self[0](inputs), inputs > 0, ({"norm": self[0].weight}, None, "a word")]
            if type(self[0]) is not Different:
                values[["scores", "labels", "more"].index(part)] = [torch.zeros(1)]
            return Outputs(*values)

    with pytest.raises(WorkloadError, match="other outputs"):
        take_over_batch_norm(Wrapped(Different(4)), put_through)


@pytest.mark.parametrize("spread", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("centre", [0.0, 1000.0])
def test_inputs_of_any_size_are_no_difference(spread: float, centre: float) -> None:
    """Rounding is relative to what comes in, so comparing must be as well."""
    inputs = centre + spread * torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    inputs[:, 0] = centre  # a dead channel
    taken_over(nn.Sequential(nn.BatchNorm1d(4, momentum=0.003), nn.Linear(4, 4)), lambda model: model(inputs))
    with pytest.raises(WorkloadError, match="running statistics"):
        taken_over(nn.Sequential(FixedMomentum(4, momentum=0.003)), lambda model: model(inputs))


def test_mode_momentum_and_random_numbers_are_as_before() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    model, _ = taken_over(nn.Sequential(nn.BatchNorm1d(4, momentum=0.3), nn.Dropout()))
    assert torch.equal(torch.get_rng_state(), before)
    assert model.training and model[0].momentum == 0.3
    assert list(hooks_of(model[0])) == []


def hooks_of(module: nn.Module) -> Iterator[Any]:
    yield from module._forward_hooks.values()
    yield from module._forward_pre_hooks.values()
