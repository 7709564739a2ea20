"""`sw.train`, and the run that it returns."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalewise.api.failures import raised_here
from scalewise.api.given_workload import AnyWorkload, known_in, named
from scalewise.api.result import FolderResult
from scalewise.api.settings import Recipe, Settings, Stop, overrides, recipe_name
from scalewise.api.tables import frame
from scalewise.errors import FolderError, Interrupted, WorkloadError
from scalewise.record.folder import RunFolder
from scalewise.record.results.run import RunMetadata
from scalewise.record.status import Status
from scalewise.requests import TrainRequest
from scalewise.words import counted, number

if TYPE_CHECKING:
    import polars as pl
    from torch import nn

    from scalewise.config import Config
    from scalewise.run.train import Trained


class Run(FolderResult):
    """A run in its folder: how it ended, what was measured on the way, and its model.

    `Run("runs/x")` opens a run that any command has trained.
    """

    def __init__(self, path: str | PathLike[str], workload: "AnyWorkload | None" = None) -> None:
        super().__init__(path)
        self._folder, self._workload = RunFolder(self.path), workload

    @property
    def metadata(self) -> RunMetadata:
        """All that is known about the run: times, versions, hardware and so on."""
        if (known := self._folder.metadata()) is None:
            raise FolderError(f"{self.path} holds a run that has recorded nothing yet")
        return known

    @property
    def status(self) -> Status:
        """COMPLETE, INCOMPLETE, or INFEASIBLE, which means that it diverged."""
        known = self._folder.metadata()
        return Status.INCOMPLETE if known is None else known.status

    @property
    def stopped_by(self) -> str | None:
        """What ended it: target, loss, steps, epochs, seconds, signal or diverged; None: it was not ended."""
        reason = self.metadata.stopped_by
        return None if reason is None else str(reason)

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return self.metadata.steps

    @property
    def config(self) -> "Config":
        """Every setting."""
        return self._folder.config()

    @property
    def workload(self) -> str:
        """The name of the workload."""
        return self.config.workload

    @property
    def measurements(self) -> "pl.DataFrame":
        """A row for each evaluation: the step, and a column for each split and metric, such as `val/loss`."""
        return frame({"step": step, **metrics} for step, metrics in self._folder.measurements())

    def model(self, workload: "AnyWorkload | None" = None) -> "nn.Module":
        """Return the workload's own network with the final weights, ready to evaluate.

        A run that was opened, and whose workload was given in Python, must be given the workload again.
        """
        import torch
        from safetensors.torch import load_file

        if not self._folder.model.exists():
            raise FolderError(f"{self.path} has no final weights: the run is {self.status}")
        with torch.random.fork_rng(devices=[]), named(workload or self._workload or self.workload) as name:
            network: nn.Module = _found(name).model()
        try:
            network.load_state_dict(load_file(self._folder.model))
        except RuntimeError as error:
            raise WorkloadError(f"the weights in {self.path} are not those of this model: {error}") from None
        return network.eval()

    def __repr__(self) -> str:
        known = self._folder.metadata()
        if known is None:
            return f"<Run {self.path}: {Status.INCOMPLETE}, nothing recorded yet>"
        ended = f"{known.status}" if known.stopped_by is None else f"{known.status} by {known.stopped_by}"
        measured = self._folder.measurements()
        shown = {} if not measured else {name: value for name, value in measured[-1][1].items() if "val/" in name}
        values = "".join(f", {name} {number(value)}" for name, value in shown.items())
        return f"<Run {self.path}: {ended}, {counted(known.steps, 'step')}{values}>"


def _found(name: str) -> Any:
    from scalewise.workloads.find import find_workload

    return find_workload(name)


def train(
    workload: AnyWorkload,
    *,
    recipe: Recipe = None,
    stop: Stop = None,
    settings: Settings = (),
    workers: int | None = None,
    out: str | PathLike[str] | None = None,
    exact: bool = False,
    fresh: bool = False,
) -> Run:
    """Train a workload by a recipe on any number of workers: the same model every time.

    Args:
        workload: An object of a class that extends `sw.Workload`, or a name, such as `mnist/fc_128` or
            `path/to/file.py:MyWorkload`. A class may be defined anywhere, also in a notebook.
        recipe: Settings of the recipe, such as `dict(global_batch=256)`; presets, such as `"linear+warmup"`; or a
            YAML file, such as a run's run.yaml.
        stop: A target, such as `"val/classification_error<0.1"`, or settings of the section `stop`.
        settings: Any other settings, by `section.key`.
        workers: Training processes on this machine; by default one, which is this process.
        out: The run folder. An unfinished run in it is continued. By default it is named after all that decides the
            model, below `runs`, so that the same call continues the same run.
        exact: Make the model bit-identical for every number of workers.
        fresh: Move an existing run folder aside and start again.

    Raises:
        UserError: For a mistake, in one sentence.
        Interrupted: Where Ctrl-C, "interrupt the kernel" or another signal stopped it. It has saved a checkpoint, and
            the same call continues it.

    >>> import scalewise as sw
    >>> run = sw.train("digits/fc_32", recipe=dict(global_batch=256), stop=dict(steps=5), out="runs/digits")
    >>> run
    <Run runs/digits: COMPLETE by steps, 5 steps, val/cross_entropy_error ..., val/classification_error ...>
    >>> run.measurements.columns[:2]
    ['step', 'train/cross_entropy_error']
    >>> sum(weight.numel() for weight in run.model().parameters())
    2410
    """
    with named(workload) as name, raised_here():
        request = TrainRequest(
            workload=name,
            recipe=recipe_name(recipe),
            overrides=overrides(recipe, stop, settings),
            workers=workers,
            out=None if out is None else Path(out),
            exact=exact,
            fresh=fresh,
            quiet=True,
        )
        ended = _train(request, workload)
    run = Run(ended.folder.path, workload)
    if ended.status is Status.INCOMPLETE:
        known = ended.folder.metadata()
        steps = counted(0 if known is None else known.steps, "step")
        raise Interrupted(f"the run in {run.path} was stopped after {steps}; the same call continues it")
    return run


def _train(request: TrainRequest, workload: AnyWorkload) -> "Trained":
    from scalewise.run.train import folder_of, train  # and torch

    with known_in(folder_of(request).path, workload, anew=request.fresh):
        return train(request)
