"""`sw.open`: any folder of results as the object that a function would have returned."""

from os import PathLike
from pathlib import Path

from scalewise.api.advising import Advice
from scalewise.api.benching import Bench
from scalewise.api.comparing import Comparison
from scalewise.api.planning import Plan
from scalewise.api.result import FolderResult
from scalewise.api.studying import Study
from scalewise.api.trained_run import Run

_CLASSES: dict[str, type[FolderResult]] = {
    "advice": Advice,
    "bench": Bench,
    "comparison": Comparison,
    "plan": Plan,
    "run": Run,
    "study": Study,
}


def open(path: str | PathLike[str]) -> FolderResult:  # noqa: A001 - `sw.open` is what it is called by
    """Open any folder of results: a `Run`, `Bench`, `Comparison`, `Study`, `Plan` or `Advice`.

    >>> import scalewise as sw
    >>> run = sw.train("digits/fc_32", stop=dict(steps=2), out="runs/short")
    >>> sw.open("runs/short").steps
    2
    """
    from scalewise.report.kinds import known_kind

    return _CLASSES[known_kind(Path(path)).name](path)
