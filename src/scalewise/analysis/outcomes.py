"""The outcome of trials: the steps that each needed to a target, and what follows for their batch size."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scalewise.analysis.critical import CurvePoint
from scalewise.record.steps import StepsRow

CONFIDENCE = 0.9
"""Of the interval of a batch size's steps."""

DECIDING_TRIALS = math.ceil(-math.log((1 - CONFIDENCE) / 2))
"""How many of the best trials decide the interval: three.

Draw n trials out of n, with repetition, again and again: the fewest steps of a draw are those of the best trial that is
in it. None of the best k is in a draw with probability (1 - k/n)^n, which is at most e^-k. So the upper end of the
interval is the k-th best for the first k where e^-k is at most half of what the interval leaves out, and no simulation
is needed. The lower end is the best itself, which two draws in three have. The number must not depend on n: racing does
not find out how many of the others would have diverged.
"""


@dataclass(frozen=True)
class Outcome:
    """A trial that did not diverge, and its steps."""

    trial_id: int
    steps: float | None
    """The first measured step past the target; None where it was not reached."""
    last_step: float
    """How far it was trained."""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StepsToTarget:
    """The steps that one batch size needs: the fewest over its trials."""

    batch_size: int
    steps: float | None
    trial_id: int | None
    low: float | None
    high: float | None
    """The interval from resampling the trials; its upper end is None if some samples would not reach the target."""
    trials: int
    reached: int
    infeasible: int
    tried_steps: float
    """How far the longest trial went."""
    parameters: Mapping[str, Any]
    """Those of the best trial."""
    successful: Sequence[Outcome] = ()
    """The trials that reached the target, the best first."""

    @property
    def point(self) -> CurvePoint:
        """Return a point of the curve; if the target was not reached, a bound."""
        return CurvePoint(
            self.batch_size, self.tried_steps if self.steps is None else self.steps, self.steps is not None
        )


def steps_to_target(batch_size: int, outcomes: Sequence[Outcome], infeasible: int = 0) -> StepsToTarget:
    """Take the fewest steps over all trials; ties go to the smallest trial id.

    >>> found = steps_to_target(64, [Outcome(0, None, 900), Outcome(1, 500, 900), Outcome(2, 400, 900)])
    >>> found.steps, found.trial_id, found.low, found.high
    (400, 2, 400, None)
    """
    successful = [outcome for outcome in outcomes if outcome.steps is not None]
    successful.sort(key=lambda outcome: (outcome.steps, outcome.trial_id))
    reached = [(outcome.steps, outcome.trial_id) for outcome in successful]
    deciding = min(DECIDING_TRIALS, len(outcomes))
    return StepsToTarget(
        batch_size,
        steps=reached[0][0] if reached else None,
        trial_id=reached[0][1] if reached else None,
        low=reached[0][0] if reached else None,
        high=reached[deciding - 1][0] if 0 < deciding <= len(reached) else None,
        trials=len(outcomes) + infeasible,
        reached=len(reached),
        infeasible=infeasible,
        tried_steps=max((outcome.last_step for outcome in outcomes), default=0),
        parameters=successful[0].parameters if successful else {},
        successful=successful,
    )


def steps_of_batches(rows: list[StepsRow]) -> list[StepsToTarget]:
    """Find the fewest steps of each batch size; every row is a trial."""
    trials: dict[int, list[Outcome]] = {}
    for number, row in enumerate(rows):
        trials.setdefault(row.global_batch, []).append(_outcome_of(number, row))
    return [steps_to_target(batch_size, trials[batch_size]) for batch_size in sorted(trials)]


def _outcome_of(number: int, row: StepsRow) -> Outcome:
    parameters = {} if row.learning_rate is None else {"learning_rate": row.learning_rate}
    return Outcome(number, row.steps if row.reached else None, row.steps, parameters)


def first_steps(measured: Iterable[tuple[float, float]], below: bool, value: float) -> float | None:
    """Return the first step whose metric is strictly past a value."""
    past = (step for step, metric in measured if (metric < value if below else metric > value))
    return min(past, default=None)


def effective_learning_rate(parameters: Mapping[str, Any]) -> float | None:
    """Return learning rate / (1 - momentum): how far a gradient moves the weights in the long run."""
    rate, momentum = parameters.get("learning_rate"), parameters.get("momentum", 0.0)
    if not isinstance(rate, int | float) or not isinstance(momentum, int | float) or momentum >= 1:
        return None
    return rate / (1 - momentum) if math.isfinite(rate) else None
