"""`scalewise report`."""

from pathlib import Path
from typing import Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson
from scalewise.cli.show import show, show_json
from scalewise.errors import ExitCode
from scalewise.requests import ReportRequest


def _read(
    *,
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER",
            help="Folders of runs, benches, comparisons, studies, plans or advice.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the report. By default the one that it is about.")
    ] = ReportRequest.out,
    as_json: AsJson = ReportRequest.as_json,
) -> ReportRequest:
    """Write one page, and the same as Markdown, about any results: the answer, charts, tables, how to repeat them."""
    return ReportRequest(folders=tuple(folders), out=out, as_json=as_json)


def _perform(request: ReportRequest) -> ExitCode:
    from scalewise.report.report import report

    written = report(request)
    if request.as_json:
        show_json(written.content())
    else:
        show(f"{written.html}\n{written.markdown}")
    return ExitCode.COMPLETE


COMMAND = Command(
    "report",
    _read,
    _perform,
    (
        "scalewise report runs/study",
        "scalewise report runs/bench runs/study runs/plan --out runs/report",
    ),
)
