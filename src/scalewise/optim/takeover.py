"""Replaces a network's batch normalisation by ours, and checks that the network still computes the same."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn

from scalewise.errors import ConfigError, WorkloadError
from scalewise.optim.batch_norm import MicrobatchNorm, Moments
from scalewise.optim.kernels import AnyBatchNorm, children, has_hooks
from scalewise.optim.randomness import seed_generators

_KNOWN = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
"""What `MicrobatchNorm` computes: a class that computes anything else must not be replaced by it."""
_SAME = 1e-4
"""The largest difference of outputs, relative to the largest output: only the order of additions may differ."""


def take_over_batch_norm(
    model: nn.Module, inputs: Tensor, ghost_batch: int | None = None
) -> tuple[nn.Module, Moments | None]:
    """Replace every batch normalisation that tracks running statistics by a `MicrobatchNorm`.

    `inputs` are a few examples, on which the network must give the same outputs before and after.
    """
    layers = _layers_to_take_over(model)
    if ghost_batch is not None and not layers:
        raise ConfigError(f"recipe.ghost_batch={ghost_batch}: the network has no batch normalisation")
    if not layers:
        return model, None
    before = _outputs(model, inputs)
    taken_over = {layer: MicrobatchNorm(layer) for layer in layers}
    model = _replaced(model, taken_over)
    momenta = [torch.full_like(layer.running_mean, momentum) for layer, momentum in layers.items()]  # type: ignore[arg-type]
    moments = Moments(list(taken_over.values()), torch.cat(momenta))
    _check_same(before, _outputs(model, inputs))
    moments.clear()
    for layer in taken_over.values():  # only now: ghost batches are meant to change the outputs
        layer.ghost_batch = ghost_batch
    return model, moments


def _layers_to_take_over(model: nn.Module) -> dict[AnyBatchNorm, float]:
    """Find the layers that track running statistics, each with its momentum; refuse what cannot be replaced."""
    found: dict[AnyBatchNorm, float] = {}
    for name, module in model.named_modules():
        if isinstance(module, AnyBatchNorm) and module.running_mean is not None and module.running_var is not None:
            _check_known(module, name)
            if module.momentum is None:
                raise WorkloadError(
                    "batch normalisation with momentum=None is not supported: give it a number, e.g. 0.1"
                )
            found[module] = module.momentum
    return found


def _check_known(module: AnyBatchNorm, name: str) -> None:
    """Refuse a layer that does more than normalise, because the rest would silently be lost."""
    kind = type(module)
    if isinstance(module, nn.SyncBatchNorm):
        raise WorkloadError(
            f"the layer {name!r} of the workload's model is a SyncBatchNorm, whose statistics depend on the workers: "
            "use nn.BatchNorm2d (or 1d, 3d); recipe.microbatch says how many examples it normalises together"
        )
    known = any(isinstance(module, base) and kind.forward is base.forward for base in _KNOWN)
    hooked = has_hooks(module) or hasattr(module, "parametrizations")
    if known and not hooked:
        return
    more = "hooks or parametrizations" if known else "a forward of its own"
    raise WorkloadError(
        f"the layer {name!r} of the workload's model is a {kind.__module__}.{kind.__qualname__}, a batch normalisation "
        f"with {more}, which scalewise cannot replace without losing what it does besides normalising: use "
        "nn.BatchNorm2d (or 1d, 3d) and put the rest, such as an activation, into a layer behind it"
    )


def _replaced(module: nn.Module, taken_over: Mapping[AnyBatchNorm, MicrobatchNorm]) -> nn.Module:
    """Return the module with every layer replaced, in all places where it is used."""
    if isinstance(module, AnyBatchNorm) and module in taken_over:
        return taken_over[module]
    for name, child in children(module):
        setattr(module, name, _replaced(child, taken_over))
    return module


def _outputs(model: nn.Module, inputs: Tensor) -> dict[str, list[Tensor]]:
    """Return the network's outputs in each mode, and leave it unchanged."""
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    outputs: dict[str, list[Tensor]] = {}
    for training in (True, False):
        with torch.no_grad(), torch.random.fork_rng([inputs.device] if inputs.device.type == "cuda" else []):
            seed_generators(0, inputs.device)  # dropout draws the same in both networks
            outputs["training" if training else "evaluation"] = list(_tensors(model.train(training)(inputs)))
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
    model.train()
    return outputs


def _tensors(outputs: object) -> Iterator[Tensor]:
    """Go through all tensors of whatever a network returns."""
    if isinstance(outputs, Tensor):
        yield outputs
    elif isinstance(outputs, Mapping):
        yield from (tensor for value in outputs.values() for tensor in _tensors(value))
    elif isinstance(outputs, Sequence) and not isinstance(outputs, str):
        yield from (tensor for value in outputs for tensor in _tensors(value))


def _check_same(before: Mapping[str, list[Tensor]], after: Mapping[str, list[Tensor]]) -> None:
    for mode, originals in before.items():
        for original, ours in zip(originals, after[mode], strict=True):
            largest = float(original.abs().max()) if original.numel() else 0.0
            if not torch.allclose(ours, original, rtol=0.0, atol=_SAME * largest, equal_nan=True):
                raise WorkloadError(
                    f"the workload's model gives other outputs in {mode} mode once scalewise keeps the statistics of "
                    "its batch normalisation: its layers, or the code around them, do more than normalise, or draw "
                    "random numbers that torch does not seed"
                )
