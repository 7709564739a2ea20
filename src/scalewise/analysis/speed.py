"""Fits the step-time model to the measured points of one cluster, and predicts with intervals.

The fit is least squares in log space, where an error is a percentage. A few points do not determine seven parameters,
so each has a prior relative to the measured steps; a parameter that the points leave open makes the interval of a
prediction wide. Predictions use samples of all parameters that explain the points. No formula is exact: where points
are off it, their neighbours are too, so the errors of neighbours are correlated.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scalewise.analysis.ensemble import draw
from scalewise.analysis.step_time import PARAMETERS, Floats, Place, log_step_seconds
from scalewise.record.throughput import Throughput

CONFIDENCE = 0.9
_CARRIED = 2.0
"""The upper end of a prediction may be at most this many times its lower end."""

# The priors, as shares of the median step: the middle, and the factor of one standard deviation.
_USUAL = {
    "fixed_seconds": (0.12, 4.0),
    "seconds_per_example": (0.7, 2.0),
    "latency_inside_node": (0.005, 5.0),
    "transfer_inside_node": (0.02, 4.0),
    "latency_between_nodes": (0.015, 4.0),
    "transfer_between_nodes": (0.03, 4.0),
}
_USUAL_OVERLAP = (-2.5, 1.5)
"""Of the overlap's place between 1 and 10, as a logit."""
_MOST_OVERLAP = 10.0

_USUAL_ERROR, _ERROR_WEIGHT = 0.03, 4.0
"""The error of a measurement that is expected, and how many points that expectation counts for."""
_ALIKE, _ALIKE_DOUBLINGS = 0.9, 8.0
"""How much of an error neighbours share, and over how many doublings of workers or examples that fades."""
_DRIFT_PER_DOUBLING = 0.02
"""How much further off a prediction may be with each doubling of workers beyond the measured points."""

_STEPS, _NUDGE = 40, 1e-6
"""How many steps find the best fit, and how far a coordinate is moved to see what it changes."""
_DRAWS, _MOVES = 500, 200


@dataclass(frozen=True)
class Prediction:
    """The time of a step, with its interval."""

    step_seconds: float
    low: float
    high: float
    refused: str | None
    """Why the points do not support it, and what to measure; None: they do."""


@dataclass(frozen=True)
class SpeedModel:
    """What the points of a cluster show: sets of parameters, all equally likely, each with its size of errors."""

    values: Floats
    errors: Floats
    measured: Sequence[Place]
    residuals: Floats
    """How far off the measured points are, a row each, for each set of parameters."""
    link_known: bool = False
    """Whether the link between nodes is known although nothing was measured across it."""

    def predict(self, places: Sequence[Place]) -> list[Prediction]:
        """Predict the time of a step at each place: the median of what the points allow, and the middle 90 %."""
        if not places:
            return []
        shared = _alike(self.measured, places, shared_only=True)
        alike = np.asarray(np.linalg.solve(_alike(self.measured, self.measured), shared), np.float64)
        steps = log_step_seconds(self.values, places) - _product(alike.T, self.residuals)
        left = 1 - (alike * shared).sum(0)[:, None]
        most = max(place.workers for place in self.measured)
        doublings = np.array([[max(0.0, math.log2(place.workers / most))] for place in places])
        spread = np.sqrt(self.errors**2 * left + (_DRIFT_PER_DOUBLING * doublings) ** 2)
        noise = np.random.default_rng(0).standard_normal(len(self.values))
        tail = (1 - CONFIDENCE) / 2
        middles = np.exp(np.median(steps, axis=1))
        lows, highs = np.exp(np.quantile(steps + spread * noise, (tail, 1 - tail), axis=1))
        ends = zip(middles.tolist(), lows.tolist(), highs.tolist(), strict=True)
        return [
            Prediction(middle, low, high, self._refusal(place, low, high))
            for place, (middle, low, high) in zip(places, ends, strict=True)
        ]

    def _refusal(self, place: Place, low: float, high: float) -> str | None:
        """Say what is missing for a prediction."""
        if self._single:
            return "one measured point is not enough: measure another batch, and another number of workers"
        if place.workers > 1 and all(there.workers == 1 for there in self.measured):
            return "only one worker was measured: measure two"
        if place.nodes > 1 and not self.link_known and all(there.nodes == 1 for there in self.measured):
            return "only one node was measured: measure two, or give the link between them"
        if high > _CARRIED * low:
            size = f"{place.workers:,} workers with {place.examples_per_worker:,.4g} examples each"
            return f"{size} are too far from the measured points: measure a point nearer to that"
        return None

    @cached_property
    def _single(self) -> bool:
        return len(set(self.measured)) == 1

    def with_link(self, latency_seconds: float, transfer_seconds: float) -> "SpeedModel":
        """Return the model of the same workers with another link between nodes, which was not measured but is given."""
        values = self.values.copy()
        values[:, PARAMETERS.index("latency_between_nodes")] = latency_seconds
        values[:, PARAMETERS.index("transfer_between_nodes")] = transfer_seconds
        return dataclasses.replace(self, values=values, link_known=True)

    def parameters(self) -> dict[str, tuple[float, float, float]]:
        """Return the median of each parameter and the ends of its middle 90 %."""
        tail = (1 - CONFIDENCE) / 2
        middle, low, high = np.quantile(self.values, (0.5, tail, 1 - tail), axis=0).tolist()
        return dict(zip(PARAMETERS, zip(middle, low, high, strict=True), strict=True))


def _product(left: Floats, right: Floats) -> Floats:
    """Multiply matrices that are too small for several cores, which `@` would use."""
    result: Floats = np.einsum("ij,jk->ik", left, right)
    return result


def fit_speed(points: Sequence[Throughput], network: "NetworkFigures | None" = None) -> SpeedModel:
    """Fit the model to the points of one cluster."""
    places = [place_of(point) for point in points]
    problem = _Problem(places, np.log([point.step_seconds for point in points]), _usual(points, network))
    coordinates, errors = _draw(problem)
    return SpeedModel(problem.usual.values(coordinates), errors, places, problem.residuals(coordinates))


@dataclass(frozen=True)
class NetworkFigures:
    """What bench measured of the all-reduce between some workers of one kind of link."""

    between_nodes: bool
    latency_seconds: float
    transfer_seconds: float
    """What the gradients take beyond the latency."""
    workers: int


def place_of(point: Throughput) -> Place:
    """Say where a point was measured."""
    return Place.of(point.workers, point.global_batch, point.workers_per_node)


@dataclass(frozen=True)
class _Usual:
    """The logarithms of what is usual, and how far from it they may be."""

    middle: Floats
    spread: Floats

    def values(self, coordinates: Floats) -> Floats:
        """Turn coordinates, of which 0 is usual and 1 is unusual, into parameters."""
        free = self.middle + self.spread * coordinates
        overlap = 1 + (_MOST_OVERLAP - 1) * (1 + np.tanh(free[:, -1:] / 2)) / 2
        return np.hstack([np.exp(free[:, :-1]), overlap])


def _usual(points: Sequence[Throughput], network: NetworkFigures | None) -> _Usual:
    step = float(np.median([point.step_seconds for point in points]))
    examples = float(np.median([point.examples_per_worker for point in points]))
    middle = {name: share * step for name, (share, _) in _USUAL.items()}
    middle["seconds_per_example"] /= examples
    factor = {name: factor for name, (_, factor) in _USUAL.items()}
    if network is not None:
        where = "between_nodes" if network.between_nodes else "inside_node"
        share = 2 * (network.workers - 1) / network.workers
        middle[f"latency_{where}"] = network.latency_seconds / max(1.0, math.log2(network.workers))
        middle[f"transfer_{where}"] = max(network.transfer_seconds, 1e-9) / share
        factor[f"latency_{where}"] = factor[f"transfer_{where}"] = 2.0
    overlap, overlap_spread = _USUAL_OVERLAP
    return _Usual(
        np.append(np.log(list(middle.values())), overlap),
        np.append(np.log(list(factor.values())), overlap_spread),
    )


@dataclass(frozen=True)
class _Problem:
    """The measured steps, as logarithms, and what is usual."""

    places: Sequence[Place]
    steps: Floats
    usual: _Usual

    def residuals(self, coordinates: Floats) -> Floats:
        """Return how far off every point, a row each, is for every set of coordinates."""
        return log_step_seconds(self.usual.values(coordinates), self.places) - self.steps[:, None]

    def squares(self, coordinates: Floats) -> Floats:
        """Return the sum of squared errors, together with the errors that were expected."""
        squares: Floats = (self.independent(coordinates) ** 2).sum(0) + _ERROR_WEIGHT * _USUAL_ERROR**2
        return squares

    def independent(self, coordinates: Floats) -> Floats:
        """Return the errors without what neighbours share."""
        return _product(self._apart, self.residuals(coordinates))

    @cached_property
    def _apart(self) -> Floats:
        """What takes from errors what neighbours share."""
        inverse: Floats = np.linalg.inv(np.linalg.cholesky(_alike(self.places, self.places)))
        return inverse

    @property
    def count(self) -> float:
        """How many errors those squares are of."""
        return len(self.steps) + _ERROR_WEIGHT

    def log_density(self, coordinates: Floats) -> Floats:
        """Return how likely coordinates are; the size of the errors, which is not known, is averaged over."""
        usual = -0.5 * (coordinates**2).sum(1)
        density: Floats = usual - 0.5 * self.count * np.log(self.squares(coordinates))
        return density


def _alike(places: Sequence[Place], others: Sequence[Place], shared_only: bool = False) -> Floats:
    """Return how alike the errors of places are to those of others; each has a part of its own besides."""
    mine, theirs = (
        np.log2([(place.workers, place.examples_per_worker / place.passes) for place in side])
        for side in (places, others)
    )
    doublings = np.abs(mine[:, None] - theirs[None]).sum(2)
    shared: Floats = _ALIKE * np.exp(-doublings / _ALIKE_DOUBLINGS)
    return shared if shared_only else shared + (1 - _ALIKE) * np.eye(len(mine))


def _draw(problem: _Problem) -> tuple[Floats, Floats]:
    """Draw coordinates as often as they are likely, and a size of errors for each; walkers start at the best fit."""
    random = np.random.default_rng(0)
    start = random.multivariate_normal(*_best_fit(problem), size=_DRAWS)
    coordinates = draw(problem.log_density, start, _MOVES, random)
    errors = np.sqrt(problem.squares(coordinates) / random.chisquare(problem.count, _DRAWS))
    return coordinates, errors


def _best_fit(problem: _Problem) -> tuple[Floats, Floats]:
    """Return the most likely coordinates, and how they vary together, by damped Gauss-Newton steps.

    All slopes of a step come from one evaluation, so this takes a quarter of the time of SciPy's least squares, and
    does not need its import.
    """
    each = np.eye(len(PARAMETERS))
    coordinates, damping = np.zeros(len(PARAMETERS)), 1.0
    for _ in range(_STEPS):
        errors = problem.independent(np.vstack([coordinates, coordinates + _NUDGE * each]))
        slopes = (errors[:, 1:] - errors[:, :1]) / _NUDGE
        variance = problem.squares(coordinates[None])[0] / problem.count
        curvature = slopes.T @ slopes / variance + each
        downhill = -(slopes.T @ errors[:, 0] / variance + coordinates)
        moved = coordinates + np.linalg.solve(curvature + damping * each, downhill)
        here, there = problem.log_density(np.vstack([coordinates, moved]))
        coordinates, damping = (moved, damping / 4) if there > here else (coordinates, damping * 4)
    covariance: Floats = np.linalg.inv(curvature)
    return coordinates, covariance
