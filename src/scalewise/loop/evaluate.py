"""Measures the metrics on whole splits: every example once, on all workers, whatever their number."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scalewise.cluster.collectives import sum_over_workers
from scalewise.cluster.world import World
from scalewise.data.splits import Examples, Split
from scalewise.optim.averaging import Average

_AVERAGED = "averaged_"

Metrics = Callable[[Tensor, Tensor], Mapping[str, Tensor]]


@dataclass(frozen=True)
class Evaluator:
    """The splits to measure, cut into chunks of a fixed size that the workers share out."""

    model: nn.Module
    metrics: Metrics
    splits: Mapping[str, Examples]
    names: list[str]
    """The names of the metrics."""
    chunk: int
    world: World
    average: Average | None = None
    """Averaged weights, measured beside the plain ones."""

    def columns(self) -> list[str]:
        """Name every measured value: split/metric, and averaged_split/metric under averaged weights."""
        prefixes = ("",) if self.average is None else ("", _AVERAGED)
        return [f"{prefix}{split}/{name}" for prefix in prefixes for split in self.splits for name in self.names]

    def measure(self, interrupted: Callable[[], bool]) -> dict[str, float] | None:
        """Return the mean of each metric over each split, or None when a worker was asked to stop meanwhile."""
        self.model.eval()
        values = self._measure_splits(interrupted)
        if self.average is not None:
            with self.average.in_place():
                values += self._measure_splits(interrupted)
        self.model.train()
        columns = self.columns()
        return dict(zip(columns, values, strict=True)) if len(values) == len(columns) else None

    def _measure_splits(self, interrupted: Callable[[], bool]) -> list[float]:
        """Return the metrics of one split after the other, until a worker was asked to stop."""
        values: list[float] = []
        for examples in self.splits.values():
            means = self._means(examples, interrupted)
            if means is None:
                break
            values += means
        return values

    @torch.no_grad()
    def _means(self, examples: Examples, interrupted: Callable[[], bool]) -> list[float] | None:
        chunks = -(-len(examples) // self.chunk)
        # One row per chunk, filled in by the worker that has it. Adding zeros is exact, so after the sum over workers
        # all have the same rows, and they add them up in the same order.
        table = torch.zeros(chunks + 1, len(self.names), dtype=torch.float64, device=examples.device)
        own = self._own_chunks(chunks)
        parts = examples.runs(range(index * self.chunk, (index + 1) * self.chunk) for index in own)
        for index, part in zip(own, parts, strict=True):
            if interrupted():
                table[-1] = 1
                break
            table[index] = torch.stack(list(self._sums(part)))
        sum_over_workers(table)
        if table[-1].any():
            return None
        return [float(total) / len(examples) for total in table[:-1].sum(dim=0)]

    def _own_chunks(self, chunks: int) -> range:
        return range(self.world.rank, chunks, self.world.workers)

    def _sums(self, examples: Split) -> Iterator[Tensor]:
        # A copy, so that it starts at an aligned address in every process: kernels may round by alignment.
        inputs, targets = examples.inputs.clone(), examples.targets.clone()
        metrics = self.metrics(self.model(inputs), targets)
        return (metrics[name].double().sum() for name in self.names)
