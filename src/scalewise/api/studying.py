"""`sw.study`, and the study that it returns."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalewise.api.failures import raised_here
from scalewise.api.given_workload import AnyWorkload, known_in, named
from scalewise.api.result import FolderResult
from scalewise.api.settings import Recipe, Settings, all_overrides
from scalewise.api.tables import Files, frame
from scalewise.record.study_folder import OWN, find_studies
from scalewise.requests import StudyRequest
from scalewise.words import counted

if TYPE_CHECKING:
    import polars as pl

    from scalewise.analysis.archive import Study as Archived


class Study(FolderResult):
    """A study in its folder: what was tried at each batch size. `Study("runs/study")` opens any folder of studies."""

    @property
    def batch_sizes(self) -> list[int]:
        """The batch sizes that are studied."""
        return [study.description().batch_size for study in find_studies(self.path)]

    @property
    def trials(self) -> "pl.DataFrame":
        """A row for each trial that is finished: its batch size, its settings, how far it went and how it ended."""
        return frame(
            {
                **_place(study),
                "trial_id": trial.trial_id,
                "status": str(trial.status),
                "steps": trial.steps,
                **trial.parameters,
            }
            for study in self._archive()
            for trial in study.trials
        )

    @property
    def measurements(self) -> "pl.DataFrame":
        """A row for each evaluation of each trial."""
        import polars as pl

        tables = [
            study.measurements.select(*(pl.lit(value).alias(name) for name, value in _place(study).items()), pl.all())
            for study in self._archive()
        ]
        return pl.concat(tables, how="diagonal") if tables else pl.DataFrame()

    def _archive(self) -> "list[Archived]":
        from scalewise.analysis.archive import read_archive

        return list(read_archive(self.path, None, []))

    def __repr__(self) -> str:
        sizes = self.batch_sizes
        return f"<Study {self.path}: {counted(len(sizes), 'batch size')}, {', '.join(map(str, sizes))}>"


def _place(study: "Archived") -> dict[str, Any]:
    return {"workload": "/".join(study.workload), "batch_size": study.batch_size}


def study(
    workload: AnyWorkload,
    *,
    batch_sizes: Sequence[int],
    out: str | PathLike[str],
    trials: int = StudyRequest.trials,
    optimizer: str | None = None,
    space: Mapping[str, Any] | str | PathLike[str] | None = None,
    target: str | None = None,
    max_steps: int | None = None,
    max_epochs: float | None = None,
    race: bool = True,
    widen: bool = False,
    seed: int = 0,
    jobs: int = 1,
    recipe: Recipe = None,
    settings: Settings = (),
) -> Study:
    """Measure steps to target against batch size, each batch size with well-tuned settings of its own.

    Args:
        workload: An object or a name, as in `sw.train`.
        batch_sizes: The batch sizes to study.
        out: Folder of the study. If it was stopped, the same call continues from there.
        trials: How many settings are tried at each batch size.
        optimizer: By default the workload's own.
        space: The settings to search and their ranges, as a dictionary or a YAML file.
        target: Such as `"val/classification_error<0.12"`; by default the workload's own.
        max_steps: The step at which every trial ends at the latest.
        max_epochs: The same in epochs.
        race: Stop trials that cannot change the answer.
        widen: Where the best trial is at the end of a range, try as many settings again beyond it.
        seed: Decides which settings are tried.
        jobs: Trials at a time, each in a process of its own with one thread.
        recipe: Settings that all trials share, presets or a YAML file.
        settings: Any other settings, by `section.key`.

    >>> import scalewise as sw
    >>> tried = sw.study("digits/fc_32", batch_sizes=[64, 256], trials=2, max_steps=4, out="runs/study")
    >>> tried
    <Study runs/study: 2 batch sizes, 64, 256>
    >>> tried.trials.columns
    ['workload', 'batch_size', 'trial_id', 'status', 'steps', 'learning_rate', 'momentum']
    """
    from scalewise.study.study import study as work_on_study  # and torch

    own = Path(out) / OWN
    with named(workload) as name, known_in(own, workload), raised_here():
        request = StudyRequest(
            workload=name,
            batch_sizes=tuple(batch_sizes),
            out=Path(out),
            trials=trials,
            optimizer=optimizer,
            space=None if space is None else Files(own).yaml("space.yaml", space),
            target=target,
            max_steps=max_steps,
            max_epochs=max_epochs,
            racing=race,
            widen=widen,
            seed=seed,
            jobs=jobs,
            overrides=all_overrides(recipe, settings),
        )
        work_on_study(request)
    return Study(out)
