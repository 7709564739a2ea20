"""Tries a workload on a few examples before anything is written, so that what does not fit is said at once."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from scalewise.data.augmentation import resized
from scalewise.data.splits import Examples, Split
from scalewise.errors import WorkloadError
from scalewise.workloads import Workload

_EXAMPLES = 4


def probe(
    model: nn.Module,
    workload: Workload,
    label_smoothing: float,
    examples: Examples,
    microbatch: int,
    image_sizes: Iterable[int],
) -> list[str]:
    """Check losses, metrics, buffers and image sizes; return the names of the metrics."""
    few = a_few(examples, microbatch)
    _check_buffers(model, few)
    for size in image_sizes:
        _check_size(model, few, size)
    with torch.no_grad():
        outputs = model.eval()(few.inputs)
        model.train()
        _check_per_example("loss()", workload.loss(outputs, few.targets), len(few))
        workload.summed_loss(outputs, few.targets, label_smoothing)
        measured = workload.metrics(outputs, few.targets)
    if not isinstance(measured, Mapping) or not measured:
        raise WorkloadError("the workload's metrics() must return at least one metric by name")
    for name, values in measured.items():
        _check_per_example(f"metric {name!r}", values, len(few))
    return list(measured)


def a_few(examples: Examples, at_most: int = _EXAMPLES) -> Split:
    """Return the first examples."""
    return examples.part(0, min(_EXAMPLES, at_most, len(examples)))


def _check_size(model: nn.Module, examples: Split, size: int) -> None:
    try:
        with torch.no_grad():
            model(resized(examples.inputs, size))
    except RuntimeError as error:
        raise WorkloadError(
            f"recipe.image_sizes has {size}, but the workload's model does not take images of {size} by {size}: {error}"
        ) from None


def _check_per_example(what: str, values: Tensor, examples: int) -> None:
    if not isinstance(values, Tensor) or values.shape != (examples,):
        shape = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__
        raise WorkloadError(
            f"the workload's {what} must give one value per example, shape ({examples},), not {shape}: "
            "sums over any number of workers are made of those"
        )


def _check_buffers(model: nn.Module, examples: Split) -> None:
    """Refuse a network that changes its own buffers in training: every worker would change them differently."""
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with torch.no_grad():
        model.train()(examples.inputs)
    for name, buffer in model.named_buffers():
        if not torch.equal(buffer, before[name]):
            raise WorkloadError(
                f"the workload's model changes its buffer {name!r} during training; "
                "only batch normalisation may, because only its statistics can be shared among workers"
            )
