"""Takes what a workload's `data()` gives: arrays, tensors or data sets under the names of splits."""

from collections.abc import Mapping
from typing import Any

import torch

from scalewise.data.splits import Examples, Split
from scalewise.data.stored import StoredSplit
from scalewise.errors import WorkloadError


def as_splits(content: Mapping[str, Any], readers: int) -> dict[str, Examples]:
    """Check what `data()` returned; `readers` processes will read ahead what is not in memory."""
    missing = {"train", "val"} - set(content)
    if missing:
        raise WorkloadError(f"the workload's data() has no split {' and no split '.join(sorted(missing))}")
    return {name: _as_examples(name, given, readers) for name, given in content.items()}


def _as_examples(name: str, given: Any, readers: int) -> Examples:
    if isinstance(given, Examples):
        return given
    is_pair = isinstance(given, (tuple, list)) or not hasattr(given, "__getitem__")
    return _in_memory(name, given) if is_pair else _stored(name, given, readers)


def _in_memory(name: str, pair: Any) -> Split:
    try:
        inputs, targets = (torch.as_tensor(part) for part in pair)
    except (TypeError, ValueError, RuntimeError) as error:
        raise WorkloadError(
            f"split {name} must be a pair (inputs, targets) of arrays or tensors, or a data set: {error}"
        ) from None
    if inputs.ndim == 0 or targets.ndim == 0 or len(inputs) != len(targets) or len(inputs) == 0:
        shapes = f"{tuple(inputs.shape)} and {tuple(targets.shape)}"
        raise WorkloadError(f"split {name} must hold as many inputs as targets, at least one of each; it has {shapes}")
    return Split(inputs, targets)


def _stored(name: str, dataset: Any, readers: int) -> StoredSplit:
    split = StoredSplit(dataset, readers, torch.device("cpu"))
    try:
        split.part(0, 1)
    except Exception as error:  # whatever a user's reading can raise
        raise WorkloadError(
            f"split {name} must give pairs (input, target) by number; its first one fails: {error!r}"
        ) from error
    return split
