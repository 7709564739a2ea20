"""Measures the metrics on whole splits: every example once, on all workers, whatever their number."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from scalewise.cluster.collectives import broadcast_from_chief, sum_over_workers
from scalewise.cluster.world import World
from scalewise.data.splits import Examples, Split
from scalewise.data.trees import Tree
from scalewise.errors import UserError, WorkloadError
from scalewise.loop.measured import Gathering, Measured, gatherings, sum_and_weight
from scalewise.optim.averaging import Average
from scalewise.workloads import Workload

_AVERAGED = "averaged_"


@dataclass(frozen=True)
class Evaluator:
    """The splits to measure, cut into chunks of a fixed size that the workers share out."""

    model: nn.Module
    workload: Workload
    splits: Mapping[str, Examples]
    measured: Sequence[Measured]
    chunk: int
    world: World
    average: Average | None = None
    """Averaged weights, measured beside the plain ones."""

    def columns(self) -> list[str]:
        """Name every measured value: split/metric, and averaged_split/metric under averaged weights."""
        names = [measured.name for measured in self.measured]
        prefixes = ("",) if self.average is None else ("", _AVERAGED)
        return [f"{prefix}{split}/{name}" for prefix in prefixes for split in self.splits for name in names]

    def measure(self, interrupted: Callable[[], bool]) -> dict[str, float] | None:
        """Return each metric of each split, or None when a worker was asked to stop meanwhile."""
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
            figures = self._figures(examples, interrupted)
            if figures is None:
                break
            values += figures
        return values

    @torch.no_grad()
    def _figures(self, examples: Examples, interrupted: Callable[[], bool]) -> list[float] | None:
        chunks = -(-len(examples) // self.chunk)
        # One row per chunk, filled in by the worker that has it. Adding zeros is exact, so after the sum over workers
        # all have the same rows, and they add them up in the same order. A metric has its sum and its weight.
        table = torch.zeros(chunks + 1, len(self.measured), 2, dtype=torch.float64, device=examples.device)
        gathered = gatherings(self.measured, len(examples), examples.device)
        own = self._own_chunks(chunks)
        parts = examples.runs(range(index * self.chunk, (index + 1) * self.chunk) for index in own)
        for index, part in zip(own, parts, strict=True):
            if interrupted():
                table[-1] = 1
                break
            self._measure_chunk(part, index, table[index], gathered)
        sum_over_workers(table)
        if table[-1].any():
            return None
        sums, weights = table[:-1].sum(dim=0).unbind(dim=1)
        totals = zip(self.measured, sums.tolist(), weights.tolist(), strict=True)
        figures = [measured.metric.figure(total / weight) if weight else math.nan for measured, total, weight in totals]
        return self._with_those_of_all(figures, {name: part.finish() for name, part in gathered.items()})

    def _own_chunks(self, chunks: int) -> range:
        return range(self.world.rank, chunks, self.world.workers)

    def _measure_chunk(self, examples: Split, index: int, row: torch.Tensor, gathered: Mapping[str, Gathering]) -> None:
        # A copy, so that it starts at an aligned address in every process: kernels may round by alignment.
        chunk = examples.copied()
        metrics = self.workload.metrics(self.workload.outputs(self.model, chunk.inputs), chunk.targets)
        for place, measured in enumerate(self.measured):
            if measured.form is None:
                row[place] = torch.stack(sum_and_weight(metrics[measured.name]))
            else:
                gathered[measured.name].fill(index * self.chunk, metrics[measured.name])

    def _with_those_of_all(self, figures: list[float], rows: Mapping[str, Tree]) -> list[float]:
        """Put in the metrics that are made of all examples: the chief's, because all workers must go on alike."""
        if not rows:
            return figures
        if self.world.chief:
            for place, measured in enumerate(self.measured):
                if measured.form is not None:
                    figures[place] = self._figure_of_all(measured, rows[measured.name])
        return broadcast_from_chief(figures)

    def _figure_of_all(self, measured: Measured, rows: Tree) -> float:
        try:
            return measured.of_all(rows)
        except UserError:
            raise
        except Exception as error:
            raise WorkloadError(f"of_all of metric {measured.name!r} fails: {type(error).__name__}: {error}") from error
