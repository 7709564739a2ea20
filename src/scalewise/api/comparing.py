"""`sw.compare`, and the comparison that it returns."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.api.failures import raised_here
from scalewise.api.given_workload import AnyWorkload, known_in, named
from scalewise.api.result import FolderResult
from scalewise.api.settings import Settings, overrides
from scalewise.api.tables import frame
from scalewise.record.results.compare import CompareResult
from scalewise.requests import CompareRequest
from scalewise.words import counted

if TYPE_CHECKING:
    import polars as pl


class Comparison(FolderResult):
    """Recipes beside a small-batch baseline. `Comparison("runs/compare")` opens one that was made before."""

    @property
    def file(self) -> CompareResult:
        """All that was found."""
        return CompareResult.read(self.path)

    def table(self) -> "pl.DataFrame":
        """Return a row for each recipe: its final and its best value, and how far it is from the baseline."""
        return frame(
            {
                "name": row.name,
                "global_batch": row.global_batch,
                "final": None if row.final is None else row.final.mean,
                "lowest": None if row.final is None else row.final.lowest,
                "highest": None if row.final is None else row.final.highest,
                "best": None if row.best is None else row.best.mean,
                "against_baseline": row.against_baseline,
                "trials": row.trials,
                "diverged": row.diverged,
                "examples_per_second": row.examples_per_second,
            }
            for row in self.file.rows
        )

    def __repr__(self) -> str:
        found = self.file
        return f"<Comparison {self.path}: {counted(len(found.rows) - 1, 'recipe')} of {found.workload} and a baseline>"


def compare(
    workload: AnyWorkload,
    *,
    recipes: Sequence[str] | str,
    global_batch: int,
    baseline_batch: int,
    epochs: float,
    out: str | PathLike[str],
    learning_rate: float | None = None,
    seeds: int = 1,
    settings: Settings = (),
    workers: int = 1,
) -> Comparison:
    """Train by several large-batch recipes and compare them with a small-batch baseline.

    Args:
        workload: An object or a name, as in `sw.train`.
        recipes: Presets or YAML files; `+` joins presets.
        global_batch: The batch of every recipe.
        baseline_batch: The batch of the baseline, which the plain recipe trains.
        epochs: How long each of them trains.
        out: Folder of the results. If it was stopped, the same call continues from there.
        learning_rate: The baseline's learning rate, which scaling starts from; by default the workload's own.
        seeds: How often each is trained, every time with another seed.
        settings: Any other settings, by `section.key`.
        workers: Training processes on this machine.

    >>> import scalewise as sw
    >>> found = sw.compare(
    ...     "digits/fc_32", recipes=["linear"], global_batch=512, baseline_batch=128, epochs=1, out="runs/compare"
    ... )
    >>> found.table()["name"].to_list()
    ['baseline', 'linear']
    """
    from scalewise.compare.compare import compare as run_comparison  # and torch

    folder = Path(out)
    with named(workload) as name, known_in(folder, workload), raised_here():
        request = CompareRequest(
            workload=name,
            recipes=tuple(recipes.split(",")) if isinstance(recipes, str) else tuple(recipes),
            global_batch=global_batch,
            baseline_batch=baseline_batch,
            epochs=epochs,
            out=folder,
            learning_rate=learning_rate,
            seeds=seeds,
            overrides=overrides(settings=settings),
            workers=workers,
        )
        run_comparison(request)
    return Comparison(folder)
