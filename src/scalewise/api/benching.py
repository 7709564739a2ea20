"""`sw.bench`, and the speeds that it returns."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from scalewise.api.failures import raised_here
from scalewise.api.given_workload import AnyWorkload, named
from scalewise.api.result import FolderResult
from scalewise.api.settings import Recipe, Settings, all_overrides
from scalewise.api.tables import frame
from scalewise.errors import UserError
from scalewise.record.results.bench import BenchFile
from scalewise.requests import BenchRequest
from scalewise.words import counted

if TYPE_CHECKING:
    import polars as pl


class Bench(FolderResult):
    """Seconds per step against workers and batch. `Bench("runs/bench")` opens one that was measured before."""

    @property
    def file(self) -> BenchFile:
        """All that was measured."""
        return BenchFile.read(self.path)

    def table(self) -> "pl.DataFrame":
        """Return a row for each point: workers, global batch, seconds per step with their interval, speedup."""
        return frame(self.file.points)

    @property
    def phases(self) -> "pl.DataFrame":
        """Where the time of a step goes: a row for each worker of each point, in seconds per step."""
        return frame(
            {
                "workers": point.workers,
                "global_batch": point.global_batch,
                "worker": rank,
                **{phase.name.lower(): seconds for phase, seconds in phases.items()},
            }
            for point in self.file.breakdown
            for rank, phases in enumerate(point.phases)
        )

    def __repr__(self) -> str:
        points = self.file.points
        best = max(points, key=lambda point: point.examples_per_second, default=None)
        fastest = "" if best is None else f", up to {best.examples_per_second:,.0f} examples/s"
        return f"<Bench {self.path}: {counted(len(points), 'point')}{fastest}>"


def bench(
    workload: AnyWorkload,
    *,
    workers: Sequence[int] | int = BenchRequest.workers,
    microbatch: Sequence[int] | int | Literal["auto"] = BenchRequest.microbatches,
    scaling: Literal["weak", "strong"] = BenchRequest.scaling,
    seconds: float = BenchRequest.seconds,
    synthetic: bool = False,
    trace: bool = False,
    cluster: str = BenchRequest.cluster,
    recipe: Recipe = None,
    settings: Settings = (),
    out: str | PathLike[str] = BenchRequest.out,
) -> Bench:
    """Measure seconds per step against workers and batch, and where the time goes.

    Args:
        workload: An object or a name, as in `sw.train`.
        workers: Numbers of workers, each of which is measured in processes of its own.
        microbatch: Microbatches; `"auto"` finds the largest that fits.
        scaling: `"weak"` keeps the batch of each worker, `"strong"` the global batch.
        seconds: How long each point is measured at most.
        synthetic: Use one microbatch again and again, so that reading data costs nothing.
        trace: Also record a few steps as a Chrome trace.
        cluster: What throughput.csv calls this cluster.
        recipe: Settings of the recipe, presets or a YAML file.
        settings: Any other settings, by `section.key`.
        out: Folder of the results.

    >>> import scalewise as sw
    >>> speeds = sw.bench("digits/fc_32", workers=1, microbatch=[32, 64], seconds=0.1)
    >>> speeds.table()["global_batch"].to_list()
    [32, 64]
    """
    from scalewise.bench.bench import bench as measure  # and torch

    with named(workload) as name, raised_here():
        request = BenchRequest(
            workload=name,
            workers=_several(workers),
            microbatches="auto" if microbatch == "auto" else _several(microbatch),
            scaling=scaling,
            seconds=seconds,
            synthetic=synthetic,
            trace=trace,
            cluster=cluster,
            overrides=all_overrides(recipe, settings),
            out=Path(out),
        )
        if measure(request) is None:
            raise UserError("under a launcher only worker 0 has the result of a bench")
    return Bench(out)


def _several(numbers: Sequence[int] | int | str) -> tuple[int, ...]:
    return (numbers,) if isinstance(numbers, int) else tuple(int(number) for number in numbers)
