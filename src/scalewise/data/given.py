"""Takes what a workload's `data()` gives: arrays, tensors, trees of them, or data sets, under the names of splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import IterableDataset

from scalewise.data.splits import Examples, Split
from scalewise.data.stored import Reading, StoredSplit
from scalewise.data.trees import Tree, as_tree, described, leaves, map_tree
from scalewise.errors import WorkloadError

_FORMS = "a pair (inputs, targets) of arrays or tensors, or of tuples or dicts of them, or a data set"

_FEW = 4


def as_splits(content: object, readers: int, reading: Reading, collates: bool = False) -> dict[str, Examples]:
    """Check what `data()` returned; `readers` processes will read ahead what is not in memory.

    A list is a data set where the workload collates examples by itself.
    """
    if not isinstance(content, Mapping):
        raise WorkloadError(f"the workload's data() must return splits by name, not {_article(content)}")
    missing = {"train", "val"} - set(content)
    if missing:
        raise WorkloadError(f"the workload's data() has no split {' and no split '.join(sorted(missing))}")
    splits = {name: _as_examples(name, given, readers, reading, collates) for name, given in content.items()}
    if reading.transform_example is not None and isinstance(train := splits["train"], Split):
        splits["train"] = StoredSplit(_Rows(train), readers, train.device, reading)
    if isinstance(train := splits["train"], StoredSplit) and reading.transform_example is not None:
        _check_transformed(train)
    return splits


def _check_transformed(train: StoredSplit) -> None:
    first = torch.arange(min(_FEW, len(train)))
    try:
        train.take(first, seeds=first)
    except Exception as error:  # whatever a user's code can raise
        raise WorkloadError(
            f"the workload's transform_example() fails on the first training examples: {type(error).__name__}: {error}"
        ) from error


@dataclass(frozen=True)
class _Rows:
    """Examples in memory one by one, for whatever is done to single examples."""

    split: Split

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, index: int, /) -> tuple[Tree, Tree]:
        def row(tensor: Tensor) -> Tensor:
            return tensor[index]

        return map_tree(row, self.split.inputs), map_tree(row, self.split.targets)


def _as_examples(name: str, given: Any, readers: int, reading: Reading, collates: bool) -> Examples:
    if isinstance(given, Examples):
        return given
    if isinstance(given, IterableDataset) or (hasattr(given, "__next__") and not hasattr(given, "__getitem__")):
        raise WorkloadError(
            f"split {name} is {_article(given)}, whose examples come in an order of their own: give {_FORMS} with "
            "__len__ and __getitem__"
        )
    is_pair = isinstance(given, tuple) or (isinstance(given, list) and len(given) == 2 and not collates)
    if is_pair or not hasattr(given, "__getitem__") or isinstance(given, (str, bytes, Mapping)):
        return _in_memory(name, given)
    # A list is in memory: reading it ahead pays only where something is done to its examples.
    ahead = readers if reading.transform_example is not None or not isinstance(given, list) else 0
    return _stored(name, given, ahead, reading)


def _in_memory(name: str, pair: Any) -> Split:
    try:
        inputs, targets = (as_tree(part) for part in pair)
    except (TypeError, ValueError, RuntimeError) as error:
        raise WorkloadError(f"split {name} must be {_FORMS}: {error}") from None
    for what, tree in (("inputs", inputs), ("targets", targets)):
        _check_leaves(name, what, tree)
    lengths = {len(leaf) if leaf.ndim else 0 for leaf in leaves((inputs, targets))}
    if len(lengths) != 1 or 0 in lengths:
        shapes = f"{described(inputs)} and {described(targets)}"
        raise WorkloadError(f"split {name} must hold as many inputs as targets, at least one of each; it has {shapes}")
    return Split(inputs, targets)


def _check_leaves(name: str, what: str, tree: Tree) -> None:
    """Refuse tensors that cannot be cut into examples, and targets that no network can learn."""
    found = list(leaves(tree))
    if not found:
        raise WorkloadError(f"split {name} has no {what}: its tree is empty")
    for leaf in found:
        if leaf.is_meta or leaf.layout is not torch.strided or leaf.is_quantized:
            kind = "meta" if leaf.is_meta else str(leaf.layout).removeprefix("torch.")
            raise WorkloadError(f"the {what} of split {name} must be plain tensors with values; one is {kind}")
        if what == "targets" and leaf.is_floating_point() and bool(leaf.isnan().any()):
            raise WorkloadError(
                f"the targets of split {name} hold NaN, e.g. in example {_first_nan(leaf)}: remove such examples"
            )


def _first_nan(leaf: Tensor) -> int:
    return int(leaf.isnan().flatten(1 if leaf.ndim > 1 else 0).reshape(len(leaf), -1).any(dim=1).nonzero()[0])


def _stored(name: str, dataset: Any, readers: int, reading: Reading) -> StoredSplit:
    split = StoredSplit(dataset, readers, torch.device("cpu"), reading)
    try:
        length, again = len(split), len(split)
        first = split.part(0, 1) if length else None
    except Exception as error:  # whatever a user's reading can raise
        raise WorkloadError(
            f"split {name} must give pairs (input, target) by number; its first one fails: {error!r}"
        ) from error
    if first is None:
        raise WorkloadError(f"split {name} has no examples")
    if length != again:
        raise WorkloadError(f"split {name} said {length} examples and then {again}: its length must stay")
    for what, tree in (("inputs", first.inputs), ("targets", first.targets)):
        _check_leaves(name, what, tree)
    _check_collated(name, split, min(_FEW, length))
    return split


def _check_collated(name: str, split: StoredSplit, count: int) -> None:
    try:
        few = split.part(0, count)
    except Exception as error:  # whatever a user's code can raise
        raise WorkloadError(
            f"the first {count} examples of split {name} cannot be put together ({error}); if they have different "
            "shapes or lengths, give the workload a collate() that pads them"
        ) from error
    rows = {len(leaf) if leaf.ndim else 0 for leaf in leaves((few.inputs, few.targets))}
    if rows != {count}:
        found = " and ".join(map(str, sorted(rows)))
        raise WorkloadError(f"{count} examples of split {name} collate to {found} rows: collate() must keep one each")


def _article(thing: object) -> str:
    return f"a {type(thing).__name__}"
