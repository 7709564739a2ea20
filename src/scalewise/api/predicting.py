"""`sw.predict`: seconds per step for numbers of workers that were not measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.api.result import FolderResult
from scalewise.api.showing import Shown, Shows
from scalewise.api.tables import Files, TableLike, files, frame, is_path
from scalewise.requests import PredictRequest
from scalewise.words import counted, sentence

if TYPE_CHECKING:
    import polars as pl

    from scalewise.analysis.speed_report import SpeedReport


class Prediction(Shows):
    """What measured speeds say of other numbers of workers."""

    def __init__(self, report: "SpeedReport") -> None:
        self._report = report

    @property
    def says(self) -> list[str]:
        """Which series bend, and how good predictions were where that can be told."""
        return [sentence(text) for text in self._report.sentences()] if self._report.predictions else []

    def table(self) -> "pl.DataFrame":
        """Return a row for each prediction: workers, global batch, seconds per step with their interval."""
        return frame(one.content() for one in self._report.predictions)

    @property
    def fits(self) -> "pl.DataFrame":
        """What the fit of each cluster found: the parts of a step, with their intervals."""
        return frame(
            {"cluster": cluster, "part": name, "value": value, "low": low, "high": high}
            for cluster, model in self._report.models.items()
            for name, (value, low, high) in model.parameters().items()
        )

    def _shown(self) -> Shown:
        from scalewise.analysis.speed_tables import fit_table, prediction_table

        table = prediction_table(self._report) if self._report.predictions else fit_table(self._report)
        return Shown("Predicted seconds per step", self.says, [table])

    def __repr__(self) -> str:
        clusters = counted(len(self._report.models), "cluster")
        return f"<Prediction: {counted(len(self._report.predictions), 'time')} for {clusters}>"


def predict(
    speed: "FolderResult | TableLike", *, workers: Sequence[int] | int = (), up_to: int | None = None
) -> Prediction:
    """Predict seconds per step for numbers of workers that were not measured.

    Args:
        speed: A bench or its folder; or speeds from anywhere, as a throughput.csv, a data frame of Polars or pandas, or
            a list of dictionaries, with `cluster`, `workers`, `global_batch` and `step_seconds`.
        workers: Numbers of workers to predict.
        up_to: Fit only points with at most so many workers, and compare predictions with the others.

    >>> import scalewise as sw
    >>> speeds = [{"cluster": "c", "workers": n, "global_batch": 64 * n, "step_seconds": 0.1} for n in (1, 2, 4)]
    >>> sw.predict(speeds, workers=[8, 16]).table()["workers"].to_list()
    [8, 16]
    """
    from scalewise.analysis.speed_report import report_speed

    with files(None) as tables:
        request = PredictRequest(
            throughput=throughput_file(speed, tables),
            workers=(workers,) if isinstance(workers, int) else tuple(workers),
            up_to=up_to,
        )
        return Prediction(report_speed(request))


def bench_folder(speed: "FolderResult | TableLike") -> Path | None:
    """Return the folder of a bench, if that is what a user means by speed."""
    if isinstance(speed, FolderResult):
        return speed.path
    return Path(speed) if is_path(speed) and Path(speed).is_dir() else None


def throughput_file(speed: "FolderResult | TableLike", tables: Files) -> Path:
    """Return the throughput file of whatever a user means by speed."""
    from scalewise.record.throughput import FILE_NAME
    from scalewise.record.throughput import throughput_file as file_in

    folder = bench_folder(speed)
    return tables.table(FILE_NAME, speed) if folder is None else file_in(folder)
