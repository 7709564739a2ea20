"""`scalewise predict`."""

from scalewise.analysis.speed_report import report_speed
from scalewise.analysis.speed_tables import fit_table, prediction_table
from scalewise.cli.show import show, show_json, show_tables
from scalewise.requests import PredictRequest


def perform(request: PredictRequest) -> None:
    """Predict, and show the times of a step, or the fit."""
    report = report_speed(request)
    if request.as_json:
        show_json(report.content())
        return
    show_tables(prediction_table(report) if report.predictions else fit_table(report))
    for sentence in report.sentences():
        show(sentence)
