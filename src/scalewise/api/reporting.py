"""`sw.report`: one page about any results."""

import html
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from scalewise.api.planning import Plan
from scalewise.api.result import FolderResult
from scalewise.api.showing import Shown, Shows
from scalewise.errors import ConfigError
from scalewise.figures.table import Table, texts
from scalewise.requests import ReportRequest

Reported = FolderResult | str | PathLike[str]


class Report(Shows):
    """A page, and the same as Markdown."""

    def __init__(self, page: Path, markdown: Path, answers: Sequence[tuple[str, str]]) -> None:
        self.html, self.markdown = page, markdown
        """The two files."""
        self._answers = answers

    def _shown(self) -> Shown:
        return Shown(f"Report: {self.html}", tables=[Table("", texts("about", "answer"), self._answers)])

    def _repr_html_(self) -> str:
        return f'{super()._repr_html_()}<p><a href="{html.escape(str(self.html), quote=True)}">Open the page</a></p>'

    def __repr__(self) -> str:
        return f"<Report {self.html}>"


def report(results: Reported | Sequence[Reported], *, out: str | PathLike[str] | None = None) -> Report:
    """Write one page, and the same as Markdown, about any results: the answer, charts, tables, how to repeat them.

    Args:
        results: Runs, benches, comparisons, studies, plans or advice, as objects or as folders. A plan that lies in no
            folder is kept beside the report.
        out: Folder of the report; by default the one that it is about, or `runs/report` where there are several.

    >>> import scalewise as sw
    >>> run = sw.train("digits/fc_32", stop=dict(steps=2), out="runs/short")
    >>> sw.report(run)
    <Report runs/short/report.html>
    """
    from scalewise.report.report import report as write_report

    several = [results] if isinstance(results, FolderResult | str | PathLike) else list(results)
    if not several:
        raise ConfigError("a report needs something to report on")
    folder = None if out is None else Path(out)
    folders = tuple(_folder(one, folder or Path("runs/report"), number) for number, one in enumerate(several, start=1))
    written = write_report(ReportRequest(folders=folders, out=folder))
    answers = [(f"{one.kind} {one.title}", one.answer[0]) for one in written.sections]
    return Report(written.html, written.markdown, answers)


def _folder(result: Reported, out: Path, number: int) -> Path:
    if isinstance(result, Plan) and result.in_memory:
        return result.save(out / f"plan_{number}").path
    if isinstance(result, FolderResult):
        return result.path
    if isinstance(result, str | PathLike):
        return Path(result)
    raise ConfigError(f"a report is about folders of results; {type(result).__name__} is none, but shows itself")
