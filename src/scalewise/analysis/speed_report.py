"""Predictions for numbers of workers that a throughput file does not have, from a fit for each cluster."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from scalewise.analysis.speed import Prediction, SpeedModel, fit_speed, place_of
from scalewise.errors import ConfigError
from scalewise.record.throughput import SpeedSeries, Throughput, read_throughput, speed_series
from scalewise.requests import PredictRequest
from scalewise.words import percent

_SCALES_WELL = 0.9
"""The efficiency from which on a series scales well."""


@dataclass(frozen=True)
class Predicted:
    """A number of workers of one series, and the time of its step."""

    series: SpeedSeries
    point: Throughput
    """The place; its time is the predicted one."""
    prediction: Prediction
    measured: float | None
    """What was measured there and left out of the fit."""

    @property
    def same_speed(self) -> float:
        """The time if every worker were as fast as those of the largest number that was measured."""
        return self.series.points[-1].step_seconds

    def error(self, step_seconds: float) -> float | None:
        """Return how far a time is off the measured one, as a share."""
        return None if self.measured is None else abs(step_seconds / self.measured - 1)

    def content(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        held_out = {} if self.measured is None else {"measured": self.measured, "same_speed": self.same_speed}
        place = {name: getattr(self.point, name) for name in ("cluster", "workers", "global_batch")}
        return {**place, **asdict(self.prediction), **held_out}


@dataclass(frozen=True)
class SpeedReport:
    """The fits and the predictions."""

    models: dict[str, SpeedModel]
    predictions: list[Predicted]

    def errors(self) -> tuple[float, float] | None:
        """Return the mean error of the predictions and that of the same speed per worker; None: nothing to compare."""
        known = [one for one in self.predictions if one.measured is not None]
        if not known:
            return None
        ours = fmean(one.error(one.prediction.step_seconds) or 0.0 for one in known)
        return ours, fmean(one.error(one.same_speed) or 0.0 for one in known)

    def sentences(self) -> list[str]:
        """Say how well each series scales and how good predictions were, or which options there are."""
        if not self.predictions:
            most = max(place.workers for model in self.models.values() for place in model.measured)
            return [
                f"predict other numbers of workers with --workers, e.g. --workers {2 * most},{4 * most}, "
                "or check the fit with --up-to, which leaves larger numbers of workers out of it"
            ]
        last = {one.series.name: one for one in self.predictions}
        said = [_scaling(one) for one in last.values()]
        refused = dict.fromkeys(one.prediction.refused for one in self.predictions if one.prediction.refused)
        said += [f"unreliable: {why}" for why in refused if why is not None]
        if (errors := self.errors()) is not None:
            ours, same_speed = (percent(error, decimals=1) for error in errors)
            said.append(f"mean error {ours}; with the same speed per worker it would be {same_speed}")
        return said

    def content(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        fits = [
            {
                "cluster": cluster,
                "parameters": {
                    name: dict(zip(("value", "low", "high"), ends, strict=True))
                    for name, ends in model.parameters().items()
                },
            }
            for cluster, model in self.models.items()
        ]
        errors = self.errors()
        compared = {} if errors is None else {"mean_error": errors[0], "mean_error_of_same_speed": errors[1]}
        predictions = [one.content() for one in self.predictions]
        return {"predictions": predictions, "fits": fits, "says": self.sentences(), **compared}


def report_speed(request: PredictRequest) -> SpeedReport:
    """Fit each cluster, and predict some numbers of workers for each of its series.

    With `up_to`, larger numbers of workers are left out of the fit, and predicted for comparison.
    """
    points, up_to = read_throughput(request.throughput), request.up_to
    used = [point for point in points if up_to is None or point.workers <= up_to]
    if not used:
        raise ConfigError(f"{request.throughput} has no point with at most {up_to} workers")
    held_out = [point for point in points if point not in used]
    models = {
        cluster: fit_speed([point for point in used if point.cluster == cluster])
        for cluster in dict.fromkeys(point.cluster for point in used)
    }
    predictions = [
        one for line in speed_series(used, weak=True) for one in _predict(models, line, request.workers, held_out)
    ]
    return SpeedReport(models, predictions)


def _predict(
    models: dict[str, SpeedModel], line: SpeedSeries, workers: Sequence[int], held_out: Sequence[Throughput]
) -> list[Predicted]:
    """Predict the numbers of workers that were asked for, and those that were measured and held out."""
    first = line.points[0]
    mine = [
        point
        for point in held_out
        if (point.cluster, point.examples_per_worker) == (first.cluster, first.examples_per_worker)
    ]
    asked = sorted({*workers, *(point.workers for point in mine)})
    per_node = max((point.workers_per_node or 0 for point in line.points), default=0) or None
    places = [_place(first, count, per_node) for count in asked]
    model = models[first.cluster]
    measured = {point.workers: point.step_seconds for point in mine}
    found = model.predict([place_of(place) for place in places])
    return [
        Predicted(line, place, prediction, measured.get(place.workers))
        for place, prediction in zip(places, found, strict=True)
    ]


def _place(first: Throughput, workers: int, per_node: int | None) -> Throughput:
    batch = round(first.examples_per_worker * workers)
    return Throughput(first.cluster, workers, batch, first.step_seconds, workers_per_node=per_node)


def _scaling(last: Predicted) -> str:
    """Say how fast each of the most workers is, relative to the fewest."""
    first = last.series.points[0]
    efficiency = first.step_seconds / last.prediction.step_seconds
    scales = "flattens" if efficiency < _SCALES_WELL else "scales well"
    whom = "one worker alone" if first.workers == 1 else f"one of {first.workers} workers"
    speed = f"each of {last.point.workers:,} workers has {percent(efficiency)} of the speed of {whom}"
    return f"{last.series.name} {scales}: {speed}"
