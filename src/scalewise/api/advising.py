"""`sw.advise`: a little of everything, and what follows from it."""

from os import PathLike
from pathlib import Path

from scalewise.api.analyzing import Curve, analyze
from scalewise.api.benching import Bench
from scalewise.api.failures import raised_here
from scalewise.api.given_workload import AnyWorkload, known_in, named
from scalewise.api.planning import Plan
from scalewise.api.result import FolderResult
from scalewise.api.studying import Study
from scalewise.api.tables import Files, TableLike
from scalewise.api.trained_run import Run
from scalewise.record.results.advise import AdviseFile
from scalewise.requests import AdviseRequest


class Advice(FolderResult):
    """Advice, and all that it rests on. `Advice("runs/advise")` opens advice that was given before."""

    @property
    def says(self) -> list[str]:
        """The advice, in sentences."""
        return list(AdviseFile.read(self.path).says)

    @property
    def pilot(self) -> Run:
        """The run by the workload's own recipe."""
        return Run(self.path / "pilot")

    @property
    def bench(self) -> Bench:
        """The speeds of this machine."""
        return Bench(self.path / "bench")

    @property
    def study(self) -> Study:
        """The study."""
        return Study(self.path / "study")

    @property
    def curve(self) -> Curve:
        """What the study shows."""
        return analyze(self.study).curve

    @property
    def plan(self) -> Plan:
        """The plan."""
        return Plan(self.path / "plan")

    def __repr__(self) -> str:
        says = self.says
        return f"<Advice {self.path}: {says[0] if says else 'not finished'}>"


def advise(
    workload: AnyWorkload,
    *,
    out: str | PathLike[str],
    target: str | None = None,
    clusters: "TableLike | None" = None,
    minutes: float = AdviseRequest.minutes,
) -> Advice:
    """Measure a little of everything, and say which batch, learning rate and cluster to train with.

    Args:
        workload: An object or a name, as in `sw.train`.
        out: Folder of the results. If it was stopped, the same call continues from there.
        target: By default the workload's own.
        clusters: Clusters to choose from, as `sw.plan` takes them; by default made-up examples.
        minutes: About how long it may take.

    >>> import scalewise as sw
    >>> sw.advise("digits/fc_32", minutes=0, out="runs/advice")
    Traceback (most recent call last):
    scalewise.errors.ConfigError: --minutes 0 must be greater than 0
    """
    from scalewise.advise.advise import Adviser  # and torch
    from scalewise.cluster.progress_console import progress_console

    folder = Path(out)
    with named(workload) as name, known_in(folder, workload), raised_here():
        request = AdviseRequest(
            workload=name,
            out=folder,
            target=target,
            clusters=None if clusters is None else Files(folder).clusters("given_clusters.yaml", clusters),
            minutes=minutes,
        )
        Adviser(request, progress_console()).advise()
    return Advice(folder)
