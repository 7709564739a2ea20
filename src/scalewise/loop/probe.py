"""Tries a workload on a few examples before anything is written, so that what does not fit is said at once."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from scalewise.data.splits import Examples, Split
from scalewise.data.trees import as_tree, described, leaves, map_tree
from scalewise.errors import UserError, WorkloadError, nearest
from scalewise.loop.feed import Transform
from scalewise.loop.measured import Measured
from scalewise.optim.admission import admitted
from scalewise.optim.randomness import seed_generators
from scalewise.workloads import Metric, Workload

_EXAMPLES = 4


@dataclass(frozen=True)
class Probed:
    """What a few examples have shown."""

    measured: list[Measured]
    """The metrics."""
    weighted: bool
    """Whether examples count differently."""


def a_few(examples: Examples, at_most: int = _EXAMPLES) -> Split:
    """Return the first examples."""
    return examples.part(0, min(_EXAMPLES, at_most, len(examples)))


def made_model(workload: Workload) -> nn.Module:
    """Make the network."""
    with _fails_as(f"{type(workload).__name__}.model() fails"):
        return admitted(workload.model())


def probe(
    model: nn.Module, workload: Workload, label_smoothing: float, splits: Mapping[str, Examples], smallest: int
) -> Probed:
    """Check outputs, losses, gradients, metrics and buffers, with as few examples as the smallest microbatch has."""
    few = a_few(splits["train"], smallest)
    _check_buffers(model, workload, few)
    with torch.no_grad(), _fails_as(f"the workload's model fails on the inputs {described(few.inputs)}"):
        outputs = workload.outputs(model.eval(), few.inputs)
    model.train()
    if outputs is None:
        raise WorkloadError("the workload's model returns None: its forward() must return the outputs")
    for name, split in splits.items():
        targets = split.targets if isinstance(split, Split) else a_few(split).targets
        with _fails_as(f"the workload's check() fails on the targets of split {name}"):
            workload.check(outputs, targets)
    with torch.no_grad():
        weighted = _check_loss(workload, outputs, few)
        measured = _measured(workload, outputs, few)
    _check_gradients(model, workload, few, label_smoothing)
    return Probed(measured, weighted)


def check_transforms(model: nn.Module, workload: Workload, transforms: Sequence[Transform], few: Split) -> None:
    """Refuse what is done to training examples where it fails, or where the network does not take what comes of it."""
    seeds = torch.arange(len(few))
    names = " and ".join(map(str, transforms))
    for step in sorted({0, *(step for transform in transforms for step in transform.changes_at)}):
        inputs, targets = few.inputs, few.targets
        with _fails_as(f"{names} fails on the first {len(few)} training examples"):
            for transform in transforms:
                inputs, targets = map(as_tree, transform(inputs, targets, seeds, step))
        made = f"what {names} makes of its inputs at step {step}, {described(inputs)}"
        with torch.no_grad(), _fails_as(f"the workload's model does not take {made}"):
            workload.outputs(model, inputs)


@contextmanager
def _fails_as(what: str) -> Iterator[None]:
    """Turn whatever a user's code raises into one sentence."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        first_line = str(error).strip().partition("\n")[0]
        raise WorkloadError(f"{what}: {type(error).__name__}: {first_line}") from error


def _check_loss(workload: Workload, outputs: Any, few: Split) -> bool:
    """Check one loss per example, or a pair of sums and weights; say whether it is a pair."""
    with _fails_as(f"the workload's loss() fails on the targets {described(few.targets)}"):
        losses = workload.loss(outputs, few.targets)
    weighted = _check_per_example("loss()", losses, len(few))
    sums, weights = losses if isinstance(losses, tuple) else (losses, None)
    if not sums.is_floating_point():
        raise WorkloadError(f"the workload's loss() must give floating-point numbers, not {sums.dtype}")
    if not bool(sums.isfinite().all()):
        raise WorkloadError(
            f"the workload's loss() is not finite for the first {len(few)} training examples, before any training: "
            f"{sums.tolist()}; do the inputs hold NaN or infinity?"
        )
    if weights is not None and (not bool((weights >= 0).all()) or not bool(weights.isfinite().all())):
        raise WorkloadError(f"the workload's loss() must weigh examples by 0 or more, not by {weights.tolist()}")
    return weighted


def _measured(workload: Workload, outputs: Any, few: Split) -> list[Measured]:
    """Check the metrics; return them in the order in which they are declared and given."""
    with _fails_as(f"the workload's metrics() fails on the targets {described(few.targets)}"):
        given = workload.metrics(outputs, few.targets)
    if not isinstance(given, Mapping) or not given:
        raise WorkloadError("the workload's metrics() must return at least one metric by name")
    for declared in workload.measures:
        if declared.name not in given and _declared_for(type(workload)):
            hint = nearest(declared.name, given) or f"; it has {', '.join(map(str, given))}"
            raise WorkloadError(f"the workload declares the metric {declared.name!r}, but metrics() has none{hint}")
    return [_check_metric(workload.metric(name), value, few) for name, value in given.items()]


def _declared_for(kind: type[Workload]) -> bool:
    """Say whether the metrics were declared for this `metrics()`, and not for one that a subclass has replaced."""
    measures, metrics = (next(base for base in kind.__mro__ if name in vars(base)) for name in ("measures", "metrics"))
    return issubclass(measures, metrics)


def _check_metric(metric: Metric, value: Any, few: Split) -> Measured:
    what = f"metric {metric.name!r}"
    if metric.of_all is None:
        _check_per_example(what, value, len(few))
        with _fails_as(f"of_mean of {what} fails"):
            metric.figure(1.0)
        return Measured(metric, None)
    with _fails_as(f"what metrics() gives for {what}, which is made of all examples, is no tree of tensors"):
        tree = as_tree(value)
    for leaf in leaves(tree):
        if leaf.ndim == 0 or len(leaf) != len(few):
            raise WorkloadError(
                f"{what} is made of all examples: metrics() must give it one row per example, "
                f"{len(few)} here, not {described(leaf)}"
            )
    measured = Measured(metric, map_tree(lambda leaf: leaf[:0], tree))
    with _fails_as(f"of_all of {what} fails on {len(few)} examples"):
        measured.of_all(tree)
    return measured


def _check_per_example(what: str, values: object, examples: int) -> bool:
    """Check one value per example, or a pair of them; say whether it is a pair."""
    pair = values if isinstance(values, tuple) else (values,)
    if len(pair) <= 2 and all(isinstance(part, Tensor) and part.shape == (examples,) for part in pair):
        return len(pair) == 2
    found = ", ".join(str(tuple(part.shape)) if isinstance(part, Tensor) else repr(part)[:40] for part in pair)
    raise WorkloadError(
        f"the workload's {what} must give one value per example, shape ({examples},), or a pair of them, sums and "
        f"weights, not {found}: sums over any number of workers are made of those"
    )


def _check_buffers(model: nn.Module, workload: Workload, few: Split) -> None:
    """Refuse a network that changes its own buffers in training: every worker would change them differently."""
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    with torch.no_grad(), _fails_as(f"the workload's model fails in training on the inputs {described(few.inputs)}"):
        workload.outputs(model.train(), few.inputs)
    for name, buffer in model.named_buffers():
        if not torch.equal(buffer, before[name]):
            raise WorkloadError(
                f"the workload's model changes its buffer {name!r} during training; "
                "only batch normalisation may, because only its statistics can be shared among workers"
            )


def _check_gradients(model: nn.Module, workload: Workload, few: Split, label_smoothing: float) -> None:
    """Refuse a loss that no trainable parameter has a part in."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    seed_generators(0, parameters[0].device)
    with _fails_as("the gradient of the workload's loss() fails"):
        summed = workload.summed_loss(workload.outputs(model, few.inputs), few.targets, label_smoothing)
        loss = summed if isinstance(summed, Tensor) else summed[0]
        found = torch.autograd.grad(loss, parameters, allow_unused=True) if loss.requires_grad else []
    if all(gradient is None for gradient in found):
        raise WorkloadError("the workload's loss() does not depend on the model's parameters: nothing would be trained")
