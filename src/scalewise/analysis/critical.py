"""Fits S = S_min (1 + B_crit / B) to steps against batch size, and says how sure B_crit is and whether the form fits.

The fit is in log space, where an error is a percentage, with errors from Student's t, which allows a few outliers. A
batch size that never reached the target is a bound: it needs more steps than were tried. For every B_crit on a fine
grid, the best S_min and the size of the errors are found; the likelihood along the grid gives the best value and the
interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalewise.analysis.student import log_tail_of_four, quantile
from scalewise.words import percent

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
_LEAST_POINTS = 3
"""Two parameters are fitted, and at least one more point is needed to check them."""

_TAILS = 4.0
"""Degrees of freedom of the errors: with 4, one point in twenty may be three times as far off as most."""
_SMALLEST_ERROR = 0.005
"""The smallest error that is assumed: step counts are whole, and measured at intervals."""
_GRID_PER_DECADE = 150
_COARSE = 10
"""Every tenth point of the grid is enough for the height of the likelihood."""
_BEYOND = 50.0
"""How far beyond the smallest and the largest batch B_crit is searched."""
_ROUNDS, _SETTLED = 30, 1e-6
"""How many rounds S_min and the errors are fitted in turn at most, and which change ends it."""

_LARGEST_ERROR = 0.35
"""With larger typical errors, the form does not fit."""
_STRAIGHT = 1.4
"""How far the exponent of a more general form that fits better may be from 1, as a factor."""


@dataclass(frozen=True)
class CurvePoint:
    """The steps to target at one batch size; if it was not reached, a lower bound."""

    batch_size: float
    steps: float
    reached: bool = True


@dataclass(frozen=True)
class CriticalBatch:
    """The fitted B_crit and S_min."""

    value: float
    low: float | None
    high: float | None
    """The ends of the interval of B_crit; None where the points do not bound it."""
    s_min: float
    error: float
    """The typical error of a point, as a share: half of the points are further off than two thirds of it."""
    exponent: float
    """What B_crit / B would have to be raised to for the best fit."""
    form_fits: bool
    """Whether the typical error is small enough to rely on the fit."""
    says: str
    band: tuple[tuple[float, float], ...]
    """The curves at the ends of the interval: B_crit and S_min of each."""

    @property
    def overhead_20_percent(self) -> tuple[float, float | None, float | None]:
        """The batch size where steps are 20 % above perfect scaling by this fit, with its interval."""
        low, high = (None if end is None else 0.2 * end for end in (self.low, self.high))
        return 0.2 * self.value, low, high

    def steps(self, batch_size: float) -> float:
        """Return the fitted number of steps."""
        return self.s_min * (1 + self.value / batch_size)


@dataclass(frozen=True)
class NoFit:
    """Why the points name no critical batch size, and what else they show."""

    says: str
    low: float | None = None
    high: float | None = None
    """A bound of B_crit where all batch sizes are on one side of it."""
    error: float | None = None
    exponent: float | None = None
    form_fits: bool = False


def fit_critical_batch(points: Sequence[CurvePoint]) -> CriticalBatch | NoFit:
    """Fit the form to points of different batch sizes.

    >>> fit = fit_critical_batch([CurvePoint(b, 100 * (1 + 512 / b)) for b in (8, 32, 128, 512, 2048, 8192)])
    >>> assert isinstance(fit, CriticalBatch)
    >>> round(fit.value), round(fit.s_min), fit.form_fits
    (512, 100, True)
    """
    if sum(point.reached for point in points) < _LEAST_POINTS:
        return NoFit(f"at least {_LEAST_POINTS} batch sizes must reach the target to fit a curve")
    data = _Data.of(points)
    grid = _grid(data)
    straight = _profile(data, grid, exponent=1.0)
    best = int(np.argmax(straight.likelihood))
    reached = int(data.reached.sum())
    exponent, gain = _best_exponent(data, grid, straight.likelihood[best])
    error = _typical_error(data, grid[best], straight.log_s_min[best])
    if gain > _drop(reached, 0.999) and not 1 / _STRAIGHT < exponent < _STRAIGHT:
        return NoFit(_says_other_form(exponent), error=error, exponent=exponent)
    inside = straight.likelihood >= straight.likelihood[best] - _drop(reached, CONFIDENCE)
    low, high = _ends(grid, inside)
    fits = error <= _LARGEST_ERROR
    if best in (0, len(grid) - 1) or (low is None and high is None):
        says = _says_no_value(low, high, all_beyond=best == 0) if fits else _says_large_error(error)
        return NoFit(says, low, high, error, exponent, fits)
    band = tuple((float(np.exp(grid[i])), float(np.exp(straight.log_s_min[i]))) for i in np.nonzero(inside)[0][[0, -1]])
    top = _top(straight.likelihood, best)
    value, s_min = (float(np.exp(np.interp(top, range(len(grid)), vector))) for vector in (grid, straight.log_s_min))
    says = _says_value(value, low, high, error) if fits else _says_large_error(error)
    return CriticalBatch(value, low, high, s_min, error, exponent, fits, says, band)


@dataclass(frozen=True)
class _Data:
    """The points as vectors of logarithms."""

    batch: Floats
    steps: Floats
    reached: NDArray[np.bool_]

    @classmethod
    def of(cls, points: Sequence[CurvePoint]) -> "_Data":
        ordered = sorted(points, key=lambda point: point.batch_size)
        return cls(
            np.log([point.batch_size for point in ordered]),
            np.log([point.steps for point in ordered]),
            np.array([point.reached for point in ordered]),
        )


@dataclass(frozen=True)
class _Profile:
    """For each B_crit of a grid: the best S_min, the size of the errors, and the likelihood."""

    log_s_min: Floats
    error: Floats
    likelihood: Floats


def _grid(data: _Data) -> Floats:
    """Return logarithms of every B_crit that is considered."""
    first, last = data.batch[0] - math.log(_BEYOND), data.batch[-1] + math.log(_BEYOND)
    return np.linspace(first, last, round((last - first) / math.log(10) * _GRID_PER_DECADE) + 1)


def _profile(data: _Data, grid: Floats, exponent: float) -> _Profile:
    """Maximise the likelihood over S_min and the errors for all of a grid at once, by weighted means in turn."""
    shape = np.logaddexp(0.0, exponent * (grid[:, None] - data.batch))  # log(1 + (B_crit / B)^exponent)
    above = data.steps - shape  # each point's own log S_min
    log_s_min = np.median(above[:, data.reached], axis=1)
    error = np.full(len(grid), 0.3)
    for _ in range(_ROUNDS):
        residuals = above - log_s_min[:, None]
        counts = data.reached | (residuals > 0)  # a bound counts where the curve is below it
        weights = counts * (_TAILS + 1) / (_TAILS + (residuals / error[:, None]) ** 2)
        log_s_min = (weights * above).sum(1) / weights.sum(1)
        squares = (weights * (above - log_s_min[:, None]) ** 2).sum(1) / np.maximum(counts.sum(1), 1)
        before, error = error, np.maximum(np.sqrt(squares), _SMALLEST_ERROR)
        if np.abs(error / before - 1).max() < _SETTLED:
            break
    residuals = (above - log_s_min[:, None]) / error[:, None]
    density = _log_density(residuals[:, data.reached]).sum(1) - data.reached.sum() * np.log(error)
    bound = log_tail_of_four(residuals[:, ~data.reached]).sum(1)
    return _Profile(log_s_min, error, density + bound)


def _log_density(residuals: Floats) -> Floats:
    """Return the logarithm of Student's t with so many degrees of freedom."""
    height = math.lgamma((_TAILS + 1) / 2) - math.lgamma(_TAILS / 2) - 0.5 * math.log(math.pi * _TAILS)
    density: Floats = height - (_TAILS + 1) / 2 * np.log1p(residuals**2 / _TAILS)
    return density


def _drop(points: int, confidence: float) -> float:
    """Say how far the likelihood may fall within an interval, for as few points as there are.

    With normal errors whose size is found as well, n/2 log(1 + t^2 / (n - 2)) is exact on a line.
    """
    freedom = points - 2
    return points / 2 * math.log1p(quantile((1 + confidence) / 2, freedom) ** 2 / freedom)


def _top(likelihood: Floats, best: int) -> float:
    """Return where the top is, between the places of a grid: that of the parabola through the best three."""
    if best in (0, len(likelihood) - 1):
        return best
    before, here, after = likelihood[best - 1 : best + 2]
    return best + 0.5 * float((before - after) / (before - 2 * here + after))


def _ends(grid: Floats, inside: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    """Return the first values outside of an interval; None if it extends beyond the grid."""
    (places,) = np.nonzero(inside)
    low = None if places[0] == 0 else float(np.exp(grid[places[0] - 1]))
    high = None if places[-1] == len(grid) - 1 else float(np.exp(grid[places[-1] + 1]))
    return low, high


def _typical_error(data: _Data, log_critical: float, log_s_min: float) -> float:
    """Return the error that a normal distribution with the same median would have, whatever the outliers."""
    fitted = log_s_min + np.logaddexp(0.0, log_critical - data.batch)
    return float(1.4826 * np.median(np.abs(data.steps - fitted)[data.reached]))


def _best_exponent(data: _Data, grid: Floats, straight: float) -> tuple[float, float]:
    """Return the exponent that explains the points best, and how much better than 1 it does."""
    exponents = np.exp(np.linspace(math.log(0.25), math.log(4), 9))
    likelihoods = [float(_profile(data, grid[::_COARSE], exponent).likelihood.max()) for exponent in exponents]
    best = int(np.argmax(likelihoods))
    return float(exponents[best]), likelihoods[best] - straight


def _says_other_form(exponent: float) -> str:
    return (
        f"the steps do not follow S_min (1 + B_crit/B): B_crit/B would have to be raised to {exponent:.2g}, "
        "so there is no critical batch size to name"
    )


def _says_large_error(error: float) -> str:
    return f"the steps hardly follow S_min (1 + B_crit/B): a typical point is {percent(error)} off"


def _says_no_value(low: float | None, high: float | None, all_beyond: bool) -> str:
    if low is None and high is None:
        return "the points do not show where the critical batch size is: try more batch sizes"
    if all_beyond:
        return "every batch size is beyond the critical one: larger batches save no steps"
    beyond = "" if low is None else f"; B_crit is above {low:,.0f}"
    return f"every batch size scales perfectly{beyond}"


def _says_value(value: float, low: float | None, high: float | None, error: float) -> str:
    if high is None:
        return f"B_crit is above {low:,.0f}; try larger batches to find out more"
    if low is None:
        return f"B_crit is below {high:,.0f}; try smaller batches to find out more"
    return f"B_crit is {value:,.0f} ({low:,.0f} to {high:,.0f}); a typical point is {percent(error)} off the fit"
