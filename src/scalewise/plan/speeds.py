"""How long a step takes on a cluster: as measured there, or as the model predicts it from other points."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scalewise.analysis.speed import NetworkFigures, Prediction, SpeedModel, fit_speed
from scalewise.analysis.step_time import Place
from scalewise.errors import ConfigError, nearest
from scalewise.plan.clusters import Link, SizedCluster
from scalewise.record.throughput import Throughput


@dataclass(frozen=True)
class StepTime:
    """The seconds of a step, with their interval."""

    seconds: float
    low: float
    high: float
    predicted: bool


@dataclass(frozen=True)
class Refused:
    """A time that the measured points do not determine."""

    why: str


@dataclass(frozen=True)
class Network:
    """The network as bench measured it, and the size of the gradients."""

    figures: NetworkFigures | None
    gradient_bytes: int


class Speeds:
    """The speeds of all clusters that were measured."""

    def __init__(self, points: Sequence[Throughput], network: Network | None = None) -> None:
        self._network = network
        self._points: dict[str, list[Throughput]] = {}
        for point in points:
            self._points.setdefault(point.cluster, []).append(point)
        self._models: dict[str, SpeedModel] = {}
        self._predictions: dict[tuple[str, Link | None], dict[Place, StepTime | Refused]] = {}

    @property
    def batches(self) -> list[int]:
        """All global batches that were measured."""
        return sorted({point.global_batch for points in self._points.values() for point in points})

    def measured(self, cluster: SizedCluster) -> list[Throughput]:
        """Return the measured points of a cluster, of any size."""
        if cluster.speed not in self._points:
            hint = nearest(cluster.speed, self._points) or f"; there is {', '.join(self._points)}"
            raise ConfigError(
                f"there is no measured speed of the cluster {cluster.speed!r}{hint}; 'speed:' can name one"
            )
        return self._points[cluster.speed]

    def step_times(self, cluster: SizedCluster, batches: Iterable[int]) -> dict[int, StepTime | Refused]:
        """Return the time of a step for each batch, or why the points do not determine it."""
        measured = {batch: self._measured(cluster, batch) for batch in batches}
        asked = [batch for batch, found in measured.items() if found is None]
        predicted = dict(zip(asked, self._predicted(cluster, asked), strict=True)) if asked else {}
        return {batch: found or predicted[batch] for batch, found in measured.items()}

    def _measured(self, cluster: SizedCluster, batch: int) -> StepTime | None:
        if cluster.link is not None:
            return None
        found = [
            point
            for point in self.measured(cluster)
            if (point.workers, point.global_batch) == (cluster.workers, batch)
            and point.workers_per_node in (None, cluster.workers_per_node)
        ]
        if not found:
            return None
        seconds = [point.step_seconds for point in found]
        return StepTime(
            median(seconds),
            min(point.low or point.step_seconds for point in found),
            max(point.high or point.step_seconds for point in found),
            predicted=False,
        )

    def _predicted(self, cluster: SizedCluster, batches: Sequence[int]) -> list[StepTime | Refused]:
        model = self._with_link(cluster, self._model(cluster.speed))
        nodes_known = any(point.workers_per_node is not None for point in self.measured(cluster))
        places = [_place(cluster, batch, nodes_known) for batch in batches]
        seen = self._predictions.setdefault((cluster.speed, cluster.link), {})
        if unseen := [place for place in places if place not in seen]:
            seen.update(zip(unseen, map(_as_step_time, model.predict(unseen)), strict=True))
        return [seen[place] for place in places]

    def _model(self, name: str) -> SpeedModel:
        if name not in self._models:
            figures = None if self._network is None else self._network.figures
            self._models[name] = fit_speed(self._points[name], figures)
        return self._models[name]

    def _with_link(self, cluster: SizedCluster, model: SpeedModel) -> SpeedModel:
        if cluster.link is None:
            return model
        if self._network is None:
            raise ConfigError(
                f"the link of cluster {cluster.name} can only be used with the size of the gradients, which a "
                "bench folder has: plan with --bench, or leave the link out"
            )
        transfer = self._network.gradient_bytes * 8 / (cluster.link.gigabits_per_second * 1e9)
        return model.with_link(cluster.link.latency_seconds, transfer)


def _place(cluster: SizedCluster, batch: int, nodes_known: bool) -> Place:
    place = Place.of(cluster.workers, batch, cluster.workers_per_node if nodes_known else None)
    if cluster.largest_microbatch is None:
        return place
    return dataclasses.replace(place, passes=max(1, -(-batch // (cluster.workers * cluster.largest_microbatch))))


def _as_step_time(prediction: Prediction) -> StepTime | Refused:
    if prediction.refused is not None:
        return Refused(prediction.refused)
    return StepTime(prediction.step_seconds, prediction.low, prediction.high, predicted=True)
