"""`scalewise analyze`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, Steps
from scalewise.cli.reading import check_positive
from scalewise.cli.show import show, show_json, show_tables
from scalewise.errors import ExitCode, UserError
from scalewise.requests import AnalyzeRequest

if TYPE_CHECKING:
    from scalewise.analysis.findings import Analysis

_NAMED = 3
"""So many things that could not be read are named."""


def _read(
    *,
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="Folder of studies, ours or in the public layout.")
    ] = AnalyzeRequest.folder,
    steps: Steps = AnalyzeRequest.steps_file,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Such as 'val/classification_error<0.12'. By default the study's own. Repeat it to analyze several.",
        ),
    ] = None,
    step_budget: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Also find the best metric within so many steps.")
    ] = AnalyzeRequest.step_budget,
    epoch_budget: Annotated[
        float | None, typer.Option(metavar="X", help="Also find the best metric within so many epochs.")
    ] = AnalyzeRequest.epoch_budget,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder of the results. By default inside the folder of studies."),
    ] = AnalyzeRequest.out,
    as_json: AsJson = AnalyzeRequest.as_json,
) -> AnalyzeRequest:
    """Find steps to target against batch size, and the critical batch size."""
    if (folder is None) == (steps is None):
        raise UserError("analyze needs either a folder of studies, or --steps with a steps.csv")
    check_positive("--epoch-budget", epoch_budget)
    return AnalyzeRequest(
        folder=folder,
        steps_file=steps,
        targets=tuple(target or ()),
        step_budget=step_budget,
        epoch_budget=epoch_budget,
        out=out,
        as_json=as_json,
    )


def _perform(request: AnalyzeRequest) -> ExitCode:
    from scalewise.analysis.analyze import analyze

    analysis = analyze(request)
    if request.as_json:
        show_json(analysis.file.plain())
    else:
        _show(analysis)
    return ExitCode.COMPLETE


def _show(analysis: "Analysis") -> None:
    from scalewise.analysis.curve_tables import budget_table, curve_table

    for found in analysis.workloads:
        show_tables(curve_table(found.curve))
        show(found.curve.fit.says)
        if found.budgets:
            show_tables(budget_table(found.budgets))
    if analysis.skipped:
        named = ", ".join(str(item.path) for item in analysis.skipped[:_NAMED])
        more = ", ..." if len(analysis.skipped) > _NAMED else ""
        show(f"{len(analysis.skipped)} could not be read and were left out: {named}{more}")
    show(f"pictures and results in {analysis.out}")


COMMAND = Command(
    "analyze",
    _read,
    _perform,
    (
        "scalewise analyze runs/study",
        "scalewise analyze --steps steps.csv --json",
    ),
)
