"""`scalewise predict`."""

from pathlib import Path
from typing import Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson
from scalewise.cli.reading import whole_numbers
from scalewise.cli.show import show, show_json, show_tables
from scalewise.errors import ExitCode
from scalewise.requests import PredictRequest


def _read(
    *,
    throughput: Annotated[
        Path, typer.Argument(metavar="FILE", help="A throughput.csv, of a bench or from anywhere.", show_default=False)
    ],
    workers: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...", help="Numbers of workers to predict, separated by commas. By default the fit alone."
        ),
    ] = None,
    up_to: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Fit only points with at most so many workers, and compare predictions with the others.",
        ),
    ] = PredictRequest.up_to,
    as_json: AsJson = PredictRequest.as_json,
) -> PredictRequest:
    """Predict seconds per step for numbers of workers that were not measured."""
    return PredictRequest(
        throughput=throughput,
        workers=PredictRequest.workers if workers is None else whole_numbers("--workers", workers),
        up_to=up_to,
        as_json=as_json,
    )


def _perform(request: PredictRequest) -> ExitCode:
    from scalewise.analysis.speed_report import report_speed
    from scalewise.analysis.speed_tables import fit_table, prediction_table

    report = report_speed(request)
    if request.as_json:
        show_json(report.content())
        return ExitCode.COMPLETE
    show_tables(prediction_table(report) if report.predictions else fit_table(report))
    for sentence in report.sentences():
        show(sentence)
    return ExitCode.COMPLETE


COMMAND = Command(
    "predict",
    _read,
    _perform,
    (
        "scalewise predict throughput.csv --workers 16,32,64",
        "scalewise predict throughput.csv --up-to 8",
    ),
)
