"""What a run or a study came to, read from its folder and compared by its bits.

Compared are models and what was measured or decided, not files: another header, or a field that a later version adds,
is no other model. So a model must have the same tensors, while of everything else only what the base says counts.
"""

import csv
import dataclasses
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

_OWN_BUSINESS = "_scalewise"
"""Where a study keeps what it does not publish."""
_NOT_COMPARED = ("settings",)
"""Keys of study.json that may change: every setting there is, and the path of the workload's file."""


@dataclass(frozen=True)
class Outcome:
    """What is compared, each under the file that it is in and its name there."""

    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """Return the sha256 of all of it."""
        found = hashlib.sha256()
        for name, tensor in sorted(self.tensors.items()):
            found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode() + _bits(tensor))
        for name, value in sorted(self.values.items()):
            found.update(f"{name} {json.dumps(value, sort_keys=True)}\n".encode())
        return found.hexdigest()

    def as_far_as(self, base: "Outcome") -> "Outcome":
        """Leave out the values that the base does not have."""
        return dataclasses.replace(
            self, values={name: self.values[name] for name in self.values if name in base.values}
        )


def read_run(folder: Path) -> Outcome:
    """Read the models and the measurements of a run."""
    models = folder.glob("*.safetensors")  # the averaged weights and the plain ones, where weights are averaged
    tensors = {f"{file.name} {name}": tensor for file in models for name, tensor in load_file(file).items()}
    return Outcome(tensors, dict(_columns(folder / "measurements.csv", folder)))


def read_study(folder: Path) -> Outcome:
    """Read what a study publishes: every trial's settings, end and measurements, and what was asked."""
    values: dict[str, Any] = {}
    for file in folder.rglob("*"):
        if _OWN_BUSINESS in file.parts:
            continue
        if file.name == "measurements.csv":
            values.update(_columns(file, folder))
        if file.name in ("metadata.json", "study.json"):
            values.update(_keys(file, folder))
    return Outcome(values=values)


def first_difference(base: Outcome, tree: Outcome) -> str | None:
    """Say what differs first and by how much, or None where nothing does.

    >>> one, other = Outcome({"weight": torch.tensor([1.0, 2.0])}), Outcome({"weight": torch.tensor([1.0, 2.5])})
    >>> first_difference(one, other)
    'weight: 1 of 2 values differ, by at most 0.5'
    >>> first_difference(one, Outcome({**one.tensors, "bias": torch.zeros(1)}))
    'bias is new'
    >>> first_difference(one, Outcome({"weight": torch.tensor([1.0, 2.0], dtype=torch.float64)}))
    'weight: torch.float64 (2,) in the place of torch.float32 (2,)'

    Zeros of another sign are other bits, what is not a number equals itself, and more values are welcome:

    >>> first_difference(Outcome({"weight": torch.tensor([0.0])}), Outcome({"weight": torch.tensor([-0.0])}))
    'weight: 1 of 1 values differ, by at most 0'
    >>> nan = float("nan")
    >>> first_difference(Outcome(values={"error": [0.5, nan]}), Outcome(values={"error": [0.5, nan], "more": 1}))
    >>> first_difference(Outcome(values={"error": [0.5, 0.25]}), Outcome(values={"error": [0.5, 0.2]}))
    'error: 0.2 in the place of 0.25 in row 2'
    """
    if base.digest() == tree.as_far_as(base).digest():
        return None
    return next(itertools.chain(_tensor_differences(base.tensors, tree.tensors), _value_differences(base, tree)))


def _tensor_differences(base: Mapping[str, Tensor], tree: Mapping[str, Tensor]) -> Iterator[str]:
    for name in sorted({*base, *tree}):
        if name not in base or name not in tree:
            yield f"{name} is {'gone' if name in base else 'new'}"
        elif _kind(base[name]) != _kind(tree[name]):
            yield f"{name}: {_kind(tree[name])} in the place of {_kind(base[name])}"
        elif _bits(base[name]) != _bits(tree[name]):
            yield f"{name}: {_how_much(base[name], tree[name])}"


def _how_much(base: Tensor, tree: Tensor) -> str:
    count = int((_bytes(base) != _bytes(tree)).any(dim=1).sum())
    largest = float((base.double() - tree.double()).abs().max())
    return f"{count} of {base.numel()} values differ, by at most {largest:.3g}"


def _value_differences(base: Outcome, tree: Outcome) -> Iterator[str]:
    for name, value in sorted(base.values.items()):
        if name not in tree.values:
            yield f"{name} is gone"
        elif json.dumps(value, sort_keys=True) != json.dumps(tree.values[name], sort_keys=True):
            yield f"{name}: {_first_row(value, tree.values[name])}"


def _first_row(base: Any, tree: Any) -> str:
    if not (isinstance(base, list) and isinstance(tree, list)):
        return f"{tree} in the place of {base}"
    if len(base) != len(tree):
        return f"{len(tree)} rows in the place of {len(base)}"
    rows = enumerate(zip(base, tree, strict=True), start=1)
    row, (mine, theirs) = next((row, pair) for row, pair in rows if repr(pair[0]) != repr(pair[1]))
    return f"{theirs} in the place of {mine} in row {row}"


def _columns(file: Path, folder: Path) -> Iterator[tuple[str, list[float]]]:
    """Read a table by its columns, as numbers: how they are written is no part of what was measured."""
    with file.open(encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    for number, name in enumerate(header):
        yield f"{file.relative_to(folder)} {name}", [float(row[number]) for row in rows]


def _keys(file: Path, folder: Path) -> Iterator[tuple[str, Any]]:
    for name, value in json.loads(file.read_text(encoding="utf-8")).items():
        if name not in _NOT_COMPARED:
            yield f"{file.relative_to(folder)} {name}", value


def _kind(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tuple(tensor.shape)}"


def _bits(tensor: Tensor) -> bytes:
    return _bytes(tensor).numpy().tobytes()


def _bytes(tensor: Tensor) -> Tensor:
    """Return a row of bytes for each value."""
    return tensor.contiguous().view(-1, 1).view(torch.uint8)
