"""Trials in the plane of learning rate and momentum."""

from dataclasses import dataclass
from enum import StrEnum

from scalewise.analysis.archive import INFEASIBLE, ArchivedTrial


class Fate(StrEnum):
    """How a trial ended."""

    GOAL = "reached the target"
    NO_GOAL = "did not"
    INFEASIBLE = "diverged"


@dataclass(frozen=True)
class ScatterPoint:
    """One trial."""

    learning_rate: float
    one_minus_momentum: float
    fate: Fate
    best: bool


def scatter_point(trial: ArchivedTrial, reached: bool, best: bool) -> ScatterPoint | None:
    """Return where a trial lies; None where learning rate or momentum were not searched."""
    rate, momentum = (trial.parameters.get(name) for name in ("learning_rate", "momentum"))
    if not isinstance(rate, int | float) or not isinstance(momentum, int | float):
        return None
    fate = Fate.GOAL if reached else Fate.NO_GOAL
    fate = Fate.INFEASIBLE if trial.status == INFEASIBLE else fate
    return ScatterPoint(float(rate), 1 - float(momentum), fate, best)
