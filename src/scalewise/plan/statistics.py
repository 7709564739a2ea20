"""How many steps a batch size with a learning rate needs, and how often it reaches the target.

A run that did not reach the target failed if it took at least as many steps as a run with the same settings that did.
If it was stopped earlier, it shows nothing and is left out. A failed run is paid for and tried again:

    expected steps = mean of the runs that reached the target + (1 - share) / share * mean of the failed runs
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from scalewise.analysis.critical import CriticalBatch, CurvePoint, NoFit, fit_critical_batch
from scalewise.errors import ConfigError
from scalewise.record.steps import StepsRow


@dataclass(frozen=True)
class Statistic:
    """What one batch size with one learning rate needs."""

    global_batch: int
    learning_rate: float | None
    steps: float
    """Of a run that reaches the target."""
    expected_steps: float
    """With the failed runs before it."""
    reliability: float | None
    """The share of runs that reach the target; None: unknown, after a single run or none."""
    runs: int
    predicted: bool = False
    accuracy: float | None = None
    cluster: str | None = None
    """The only cluster that it holds for; None: all of them."""
    best_of: int | None = None
    """Of how many trials it is the best, and so not typical; None: it is typical."""
    fewest: float | None = None
    most: float | None = None
    """The steps of the shortest and of the longest run that reached the target, where there were several."""


@dataclass(frozen=True)
class Statistics:
    """What is known about the steps."""

    known: list[Statistic]
    fit: CriticalBatch | NoFit
    fit_of_luckiest: int | None = None
    """Of how many trials the best were fitted; None: typical runs were fitted."""

    def between(self, batches: Iterable[int]) -> list[Statistic]:
        """Predict batch sizes between the measured ones from the fit; none if there is no reliable fit."""
        fit = self.fit
        if isinstance(fit, NoFit) or not fit.form_fits:
            return []
        measured = _best_of_batches(self.known)
        first, last = min(measured), max(measured)
        between = [batch for batch in sorted(set(batches)) if self._gap(batch, first, last)]
        return [self._predicted(batch, fit.steps(batch), measured) for batch in between]

    def _gap(self, batch: int, first: int, last: int) -> bool:
        return first < batch < last and all(batch != one.global_batch for one in self.known)

    def _predicted(self, batch: int, steps: float, measured: dict[int, Statistic]) -> Statistic:
        below, above = max(size for size in measured if size < batch), min(size for size in measured if size > batch)
        share = math.log(batch / below) / math.log(above / below)
        shares = [one.reliability for one in (measured[below], measured[above])]
        reliability = None if None in shares else min(share for share in shares if share is not None)
        rates = measured[below].learning_rate, measured[above].learning_rate
        rate = None if None in rates else rates[0] ** (1 - share) * rates[1] ** share  # type: ignore[operator]
        # Between two batch sizes, retries cost as much as at the worse of them.
        retries = max(one.expected_steps / one.steps for one in (measured[below], measured[above]))
        return Statistic(
            batch, rate, steps, steps * retries, reliability, runs=0, predicted=True, best_of=self.fit_of_luckiest
        )


def statistics(rows: Sequence[StepsRow]) -> Statistics:
    """Find what every batch size with every learning rate needs."""
    groups: dict[tuple[str | None, int, float | None], list[StepsRow]] = {}
    for row in rows:
        groups.setdefault((row.cluster, row.global_batch, row.learning_rate), []).append(row)
    known = [found for group in groups.values() if (found := statistic_of(group)) is not None]
    if not known:
        raise ConfigError("no run reached the target: there is nothing to plan with")
    return with_fit(known)


def with_fit(known: list[Statistic]) -> Statistics:
    """Fit the curve of steps against batch size, where they hold for every cluster."""
    if any(one.cluster is not None for one in known):
        return Statistics(known, NoFit("the steps of different clusters are not fitted together"))
    points = [CurvePoint(size, one.expected_steps) for size, one in _best_of_batches(known).items()]
    return Statistics(known, fit_critical_batch(points))


def _best_of_batches(known: Iterable[Statistic]) -> dict[int, Statistic]:
    """Return the learning rate with the fewest expected steps for each batch size."""
    best: dict[int, Statistic] = {}
    for one in known:
        if one.global_batch not in best or one.expected_steps < best[one.global_batch].expected_steps:
            best[one.global_batch] = one
    return best


def statistic_of(rows: Sequence[StepsRow]) -> Statistic | None:
    """Find what the runs of one setting need; None where none of them reached the target."""
    successful = [row.steps for row in rows if row.reached]
    if not successful:
        return None
    failed = [row.steps for row in rows if not row.reached and (row.ended or row.steps >= min(successful))]
    accuracies = [row.accuracy for row in rows if row.accuracy is not None]
    steps, share = fmean(successful), len(successful) / (len(successful) + len(failed))
    return Statistic(
        global_batch=rows[0].global_batch,
        learning_rate=rows[0].learning_rate,
        steps=steps,
        expected_steps=steps + (1 - share) / share * fmean(failed) if failed else steps,
        reliability=share if len(successful) + len(failed) > 1 else None,
        runs=len(successful) + len(failed),
        accuracy=fmean(accuracies) if accuracies else None,
        cluster=rows[0].cluster,
        fewest=min(successful),
        most=max(successful),
    )
