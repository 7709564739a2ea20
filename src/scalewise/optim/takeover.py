"""Puts our batch normalisation in front of a network's own, and checks that the network still does the same."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from scalewise.errors import ConfigError, UserError, WorkloadError
from scalewise.optim.batch_norm import STATISTICS, MicrobatchNorm, Moments, microbatch_class
from scalewise.optim.behaviour import SAME, Call, Pass, Watch
from scalewise.optim.kernels import AnyBatchNorm

_INSTEAD = "use nn.BatchNorm2d (or 1d, 3d) and put the rest, such as an activation, into a layer behind it"


def take_over_batch_norm(
    model: nn.Module, forward: Callable[[nn.Module], Any], ghost_batch: int | None = None
) -> tuple[nn.Module, Moments | None]:
    """Put `MicrobatchNorm` in front of every batch normalisation that tracks running statistics.

    `forward` puts a few examples through a model. Outputs and running statistics must be the same before and after.
    """
    layers = _layers_to_take_over(model)
    if ghost_batch is not None and not layers:
        raise ConfigError(f"recipe.ghost_batch={ghost_batch}: the network has no batch normalisation")
    if not layers:
        return model, None
    watch = Watch(model, layers, forward)
    before = watch.passes()
    _check_evaluation(watch, before)
    if ghost_batch is not None:
        _check_cuttable(before, ghost_batch)
    taken_over = []
    for layer in layers.values():
        layer.__class__ = microbatch_class(type(layer))  # type: ignore[arg-type] # mypy: a class can be hashed
        assert isinstance(layer, MicrobatchNorm)
        taken_over.append(layer)
    _check_same(watch, before)
    for layer in taken_over:  # only now: ghost batches are meant to change the outputs
        layer.microbatch_norm_ghost_batch = ghost_batch
    return model, Moments(taken_over)


def _layers_to_take_over(model: nn.Module) -> dict[str, AnyBatchNorm]:
    """Find the layers that track running statistics, by their names; refuse what cannot be taken over."""
    found = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, AnyBatchNorm) and module.track_running_stats and module.running_mean is not None
    }
    for name, module in found.items():
        _check_known(module, name)
    return found


def _check_known(layer: AnyBatchNorm, name: str) -> None:
    if isinstance(layer, MicrobatchNorm):
        raise WorkloadError("the workload's model() must return a new network every time, not the one of the last time")
    if isinstance(layer, nn.SyncBatchNorm):
        raise WorkloadError(
            f"the layer {name!r} of the workload's model is a SyncBatchNorm, whose statistics depend on the workers: "
            "use nn.BatchNorm2d (or 1d, 3d); recipe.microbatch says how many examples it normalises together"
        )
    if layer.momentum is None:
        raise WorkloadError("batch normalisation with momentum=None is not supported: give it a number, e.g. 0.1")
    if "forward" in vars(layer):
        raise WorkloadError(
            f"{_described(layer, name)} has a forward that was set on the object, which nothing can stand in front of: "
            "give it a class with that forward instead"
        )
    if not _has_plain_statistics(layer):
        raise WorkloadError(
            f"{_described(layer, name)} must have running_mean and running_var, in float32, and num_batches_tracked"
        )


def _has_plain_statistics(layer: AnyBatchNorm) -> bool:
    mean, variance, count = (getattr(layer, statistic) for statistic in STATISTICS)
    return variance is not None and count is not None and mean.dtype == variance.dtype == torch.float32


def _described(layer: nn.Module, name: str) -> str:
    """Name a layer of the user's, which may be taken over by now."""
    kind = type(layer).__mro__[2] if isinstance(layer, MicrobatchNorm) else type(layer)
    return f"the layer {name!r} of the workload's model, a {kind.__module__}.{kind.__qualname__},"


def _check_evaluation(watch: Watch, passes: Sequence[Pass]) -> None:
    """Refuse a layer whose statistics move in evaluation, of which every worker does another part."""
    for one in (one for one in passes if one.mode == "evaluation"):
        for name in one.start:
            if not all(_within(start, end, 0.0) for start, end in zip(one.start[name], one.end[name], strict=True)):
                raise WorkloadError(
                    f"{_described(watch.layers[name], name)} moves its running statistics in evaluation mode, too: "
                    "let it do so only while self.training is true"
                )


def _check_cuttable(passes: Sequence[Pass], ghost_batch: int) -> None:
    for call in (call for one in passes for call in one.calls if not call.one_tensor):
        raise ConfigError(
            f"recipe.ghost_batch={ghost_batch}: the layer {call.layer!r} of the workload's model takes or gives more "
            "than one tensor, which cannot be cut up"
        )


def _check_same(watch: Watch, before: Sequence[Pass]) -> None:
    """Refuse a network that does anything else than before it was taken over."""
    after = _passes_of_ours(watch)
    difference = _first_difference(watch, before, after)
    if difference is not None and _first_difference(watch, after, _passes_of_ours(watch)) is not None:
        difference = (
            "the workload's model gives other outputs each time for the same examples: it draws random numbers "
            "that torch.manual_seed does not seed, or remembers what it has seen"
        )
    if difference is not None:
        raise WorkloadError(difference)


def _passes_of_ours(watch: Watch) -> list[Pass]:
    try:
        return watch.passes()
    except UserError:
        raise
    except Exception as error:  # whatever a layer of the user's can raise
        where = _described(watch.layers[name := watch.running[-1]], name) if watch.running else "the workload's model"
        raise WorkloadError(
            f"{where} fails once scalewise keeps its running statistics: {error!r}; {_INSTEAD}"
        ) from error


def _first_difference(watch: Watch, before: Sequence[Pass], after: Sequence[Pass]) -> str | None:
    """Say in a sentence what differs first, if anything does."""
    for original, ours in zip(before, after, strict=True):
        for name in _layers_with_other_outputs(original.calls, ours.calls):
            return (
                f"{_described(watch.layers[name], name)} gives other outputs in {original.mode} mode once scalewise "
                f"keeps its running statistics, so it uses them, or its momentum, for more than that: {_INSTEAD}"
            )
        if not _all_same(original.outputs, ours.outputs):
            return (
                f"the workload's model gives other outputs in {original.mode} mode once scalewise keeps the statistics "
                "of its batch normalisation: the code around the layers does something else for their new class"
            )
        for name in _layers_with_other_statistics(original, ours):
            return (
                f"{_described(watch.layers[name], name)} does not keep its running statistics as torch's own layers "
                f"do, by self.running_mean, self.running_var and self.momentum: {_INSTEAD}"
            )
    return None


def _layers_with_other_outputs(original: Sequence[Call], ours: Sequence[Call]) -> list[str]:
    pairs = zip(original, ours, strict=False)
    return [one.layer for one, other in pairs if one.layer == other.layer and not _all_same(one.outputs, other.outputs)]


def _all_same(original: Sequence[Tensor], ours: Sequence[Tensor]) -> bool:
    return len(original) == len(ours) and all(map(_same, original, ours))


def _same(original: Tensor, ours: Tensor) -> bool:
    if original.shape != ours.shape or original.dtype != ours.dtype:
        return False
    if not (original.is_floating_point() or original.is_complex()):
        return torch.equal(original, ours)
    finite = original[original.isfinite()]
    largest = float(finite.abs().max()) if finite.numel() else 0.0
    return torch.allclose(ours, original, rtol=0.0, atol=SAME * largest, equal_nan=True)


def _layers_with_other_statistics(original: Pass, ours: Pass) -> list[str]:
    """List the layers whose statistics would not move as before.

    Each channel has its own tolerance. That of a variance grows with the distance that the mean moves, because moments
    are taken around the old mean.
    """
    found = []
    for name, (mean, variance, _) in original.end.items():
        old_mean, old_variance, _ = original.start[name]
        near_mean = SAME * (mean.abs() + old_mean.abs() + variance.sqrt())
        near_variance = SAME * (variance + old_variance + (mean - old_mean) ** 2)
        our_mean, our_variance, _ = ours.end[name]
        if not (_within(mean, our_mean, near_mean) and _within(variance, our_variance, near_variance)):
            found.append(name)
    return found


def _within(original: Tensor, ours: Tensor, tolerance: Tensor | float) -> bool:
    equal = (ours == original) | (ours.isnan() & original.isnan())
    return bool((equal | ((ours - original).abs() <= tolerance)).all())
