"""What of a plan is shown, as plain values: of a plan that was just made, or of one that a file holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CHOICES = {
    "fastest": "fastest",
    "cheapest": "cheapest",
    "fastest_within_budget": "fastest within the budget",
    "cheapest_within_deadline": "cheapest within the deadline",
}
"""What each choice is called."""


@dataclass(frozen=True)
class Offer:
    """One batch size with one learning rate on one cluster: what it takes and what it costs."""

    cluster: str
    workers: int
    hours: float
    nodes: int | None = None
    global_batch: int | None = None
    learning_rate: float | None = None
    steps: float | None = None
    step_seconds: float | None = None
    low_hours: float | None = None
    high_hours: float | None = None
    cost: float | None = None
    reliability: float | None = None
    runs: int | None = None
    predicted: bool = False
    accuracy: float | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it itself."""
        return self.cluster, self.nodes, self.workers, self.global_batch, self.learning_rate


@dataclass(frozen=True)
class ScalingCurve:
    """The fastest way on ever more workers of one cluster."""

    cluster: str
    offers: Sequence[Offer]
    worth_up_to: int | None
    """The workers beyond which another doubling saves little."""


@dataclass(frozen=True)
class Overview:
    """A plan as its charts and tables need it."""

    currency: str | None
    choices: Mapping[str, Offer]
    """By a key of `CHOICES`; without those that nothing is within reach of."""
    frontier: Sequence[Offer]
    candidates: Sequence[Offer]
    scaling: Sequence[ScalingCurve]

    @property
    def named_choices(self) -> list[tuple[str, Offer]]:
        """Return every chosen offer once, with all that it is chosen as.

        >>> here = Offer("here", 2, 0.5)
        >>> Overview(None, {"fastest": here, "cheapest": here}, [], [], []).named_choices[0][0]
        'fastest and cheapest'
        """
        words: dict[tuple[object, ...], list[str]] = {}
        for name, offer in self.choices.items():
            words.setdefault(offer.key, []).append(CHOICES[name])
        offers = {offer.key: offer for offer in self.choices.values()}
        return [(" and ".join(names), offers[key]) for key, names in words.items()]
