"""How one metric of a split comes together from what single examples give, on any number of workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsFloat

import torch
from torch import Tensor

from scalewise.cluster.collectives import sum_over_workers
from scalewise.data.trees import Tree, as_tree, leaves, map_tree
from scalewise.errors import WorkloadError
from scalewise.workloads import Metric


@dataclass(frozen=True)
class Measured:
    """A metric, and the form of what each example gives for it."""

    metric: Metric
    form: Tree | None
    """A tree of tensors without rows, where the metric is made of all examples; None where it is a mean."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.metric.name

    def of_all(self, gathered: Tree) -> float:
        """Return the figure of what all examples gave: several parts as several arguments."""
        assert self.metric.of_all is not None
        found: object = self.metric.of_all(*gathered) if isinstance(gathered, tuple) else self.metric.of_all(gathered)
        if isinstance(found, str) or not isinstance(found, SupportsFloat):
            raise WorkloadError(f"of_all of metric {self.name!r} must return a number, not {found!r}")
        return float(found)


def sum_and_weight(values: Any) -> tuple[Tensor, Tensor]:
    """Add up what the examples of a chunk give: values that weigh 1 each, or sums with their weights."""
    if isinstance(values, Tensor):
        return values.double().sum(), torch.tensor(float(len(values)), dtype=torch.float64, device=values.device)
    sums, weights = values
    return sums.double().sum(), weights.double().sum()


class Gathering:
    """Rows of all examples for one metric, each filled in by the worker that has the example.

    Adding zeros is exact, so after the sum over workers all have the same rows, in the order of the examples.
    """

    def __init__(self, form: Tree, examples: int, device: torch.device) -> None:
        self._rows = map_tree(lambda leaf: _zeros(leaf, examples, device), form)

    def fill(self, start: int, values: Any) -> None:
        """Take what a chunk of examples gives, from one example on."""
        for rows, given in zip(leaves(self._rows), leaves(as_tree(values)), strict=True):
            rows[start : start + len(given)] = given

    def finish(self) -> Tree:
        """Return the rows of all workers, in main memory."""
        for rows in leaves(self._rows):
            sum_over_workers(rows)
        return map_tree(Tensor.cpu, self._rows)


def _zeros(leaf: Tensor, examples: int, device: torch.device) -> Tensor:
    """Make room for all examples; truth values become integers, which can be added up."""
    dtype = torch.uint8 if leaf.dtype is torch.bool else leaf.dtype
    return torch.zeros((examples, *leaf.shape[1:]), dtype=dtype, device=device)


def gatherings(measured: Sequence[Measured], examples: int, device: torch.device) -> dict[str, Gathering]:
    """Make room for every metric that is made of all examples."""
    return {one.name: Gathering(one.form, examples, device) for one in measured if one.form is not None}
