"""The tables of a throughput file: what the fit found, and the times that it predicts."""

from scalewise.analysis.speed_report import Predicted, SpeedReport
from scalewise.figures.table import Table, numbers, texts
from scalewise.words import interval, number, percent


def fit_table(report: SpeedReport) -> Table:
    """Return what the fit of each cluster found."""
    rows = [
        [cluster, name.replace("_", " "), f"{value:.3g}", interval(f"{low:.3g}", f"{high:.3g}")]
        for cluster, model in report.models.items()
        for name, (value, low, high) in model.parameters().items()
    ]
    return Table("The fit", [*texts("cluster", "part of a step"), *numbers("value", "90 % interval")], rows)


def prediction_table(report: SpeedReport) -> Table:
    """Return the predicted times, beside the measured ones if some were left out of the fit."""
    compared = report.errors() is not None
    names = ["workers", "global batch", "s/step", "90 % interval"]
    names += ["measured, s/step", "error", "error at same speed"] if compared else []
    rows = [[*_cells(one), *(_errors(one) if compared else [])] for one in report.predictions]
    return Table("Predicted seconds per step", [*texts("series"), *numbers(*names)], rows)


def _cells(one: Predicted) -> list[str]:
    time = one.prediction
    ends = interval(number(time.low), number(time.high))
    return [
        one.series.name,
        f"{one.point.workers:,}",
        f"{one.point.global_batch:,}",
        number(time.step_seconds),
        ends,
    ]


def _errors(one: Predicted) -> list[str]:
    """Return the measured time and the errors of the predictions; nothing if it was not measured."""
    errors = (one.error(one.prediction.step_seconds), one.error(one.same_speed))
    return [number(one.measured), *(percent(error, decimals=1) for error in errors)]
