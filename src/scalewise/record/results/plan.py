"""plan.json: what a plan was asked for, everything that there is to choose from, and what it recommends."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, PositiveInt

from scalewise.record.results.file import FIRST_FORMAT, ResultFile, ResultPart
from scalewise.requests import PlanRequest, by_commas

CHOICES = {
    "fastest": "fastest",
    "cheapest": "cheapest",
    "fastest_within_budget": "fastest within the budget",
    "cheapest_within_deadline": "cheapest within the deadline",
}
"""What each choice is called."""


class PlanAsked(ResultPart):
    """What the plan is made of, and within which limits."""

    workload: str | None = None
    study: Path | None = None
    steps: Path | None = None
    bench: Path | None = None
    throughput: Path | None = None
    clusters: Path
    target: str | None = None
    deadline: float | None = None
    """In hours."""
    budget: float | None = None
    reliability: float | None = None
    only: str | None = None
    """Names of clusters, separated by commas."""

    @classmethod
    def of(cls, request: PlanRequest, workload: str | None) -> "PlanAsked":
        """Keep what decides the result."""
        return cls(
            workload=workload,
            study=request.study,
            steps=request.steps,
            bench=request.bench,
            throughput=request.throughput,
            clusters=request.clusters,
            target=request.target,
            deadline=request.deadline_hours,
            budget=request.budget,
            reliability=request.reliability or None,
            only=by_commas(request.only) or None,
        )

    def request(self, out: Path) -> PlanRequest:
        """Return what asks for the same again."""
        return PlanRequest(
            clusters=self.clusters,
            study=self.study,
            steps=self.steps,
            bench=self.bench,
            throughput=self.throughput,
            target=self.target,
            deadline_hours=self.deadline,
            budget=self.budget,
            reliability=self.reliability or PlanRequest.reliability,
            only=PlanRequest.only if self.only is None else tuple(name.strip() for name in self.only.split(",")),
            out=out,
        )


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One batch size with one learning rate on one cluster: what it takes and what it costs."""

    cluster: str
    nodes: PositiveInt | None = None
    workers: PositiveInt
    global_batch: PositiveInt | None = None
    learning_rate: float | None = None
    steps: float | None = None
    expected_steps: float | None = None
    """With the failed runs before it."""
    step_seconds: float | None = None
    hours: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    low_hours: float | None = None
    high_hours: float | None = None
    cost: float | None = None
    reliability: float | None = None
    runs: int | None = None
    best_of: int | None = None
    """Of how many trials it is the best; None: it is typical."""
    predicted: bool = False
    accuracy: float | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies it."""
        return self.cluster, self.nodes, self.workers, self.global_batch, self.learning_rate


@dataclass(frozen=True, kw_only=True)
class Choice(Offer):
    """An offer that is recommended, and how to train with it."""

    recipe: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class ScalingCurve:
    """The fastest offer for each number of workers of one cluster."""

    cluster: str
    points: tuple[Offer, ...]
    worth_up_to: int | None = None
    """The workers beyond which another doubling saves little."""
    ended: str | None = None
    """Why nothing can be said about more workers; None: a batch has no examples for more workers."""


class PlanFile(ResultFile):
    """The whole file."""

    file_name: ClassVar = "plan.json"
    leaves_out_none: ClassVar = False
    indent: ClassVar = None  # it may have ten thousand candidates

    asked: PlanAsked | None = None
    currency: str | None = None
    fastest: Choice | None = None
    cheapest: Choice | None = None
    fastest_within_budget: Choice | None = None
    cheapest_within_deadline: Choice | None = None
    frontier: tuple[Offer, ...] = ()
    candidates: tuple[Offer, ...] = ()
    scaling: tuple[ScalingCurve, ...] = ()
    says: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def choices(self) -> dict[str, Choice]:
        """What is recommended, by a key of `CHOICES`, without choices that nothing satisfies."""
        every: dict[str, Choice | None] = {name: getattr(self, name) for name in CHOICES}
        return {name: choice for name, choice in every.items() if choice is not None}

    @property
    def named_choices(self) -> list[tuple[str, Choice]]:
        """Every chosen offer once, with all of its choices.

        >>> here = Choice(cluster="here", workers=2, hours=0.5)
        >>> PlanFile(fastest=here, cheapest=here).named_choices[0][0]
        'fastest and cheapest'
        """
        words: dict[tuple[object, ...], list[str]] = {}
        for name, choice in self.choices.items():
            words.setdefault(choice.key, []).append(CHOICES[name])
        by_key = {choice.key: choice for choice in self.choices.values()}
        return [(" and ".join(names), by_key[key]) for key, names in words.items()]

    @classmethod
    def upgraded(cls, content: dict[str, Any], written_as: int) -> dict[str, Any]:
        """Read what may have been incomplete: what has no time was not an offer, and points of a curve had no name."""
        if written_as > FIRST_FORMAT:
            return content
        offers: dict[str, Any] = {
            name: _offers(content[name]) for name in ("frontier", "candidates") if name in content
        }
        choices = {name: choice for name in CHOICES if _is_offer(choice := content.get(name))}
        curves = {"scaling": _curves(content["scaling"])} if "scaling" in content else {}
        rest = {name: value for name, value in content.items() if name not in CHOICES}
        return {**rest, **choices, **offers, **curves}


def _is_offer(value: Any) -> bool:
    """Say whether something has a time; anything that is not an offer is left to the validation."""
    return not isinstance(value, dict) or (bool(value.get("workers")) and value.get("hours") is not None)


def _offers(value: Any) -> Any:
    return [one for one in value if _is_offer(one)] if isinstance(value, list) else value


def _curves(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(curve, dict) for curve in value):
        return value
    return [{**curve, "points": _named(_offers(curve.get("points")), curve.get("cluster"))} for curve in value]


def _named(points: Any, cluster: Any) -> Any:
    if not isinstance(points, list):
        return points
    return [{"cluster": cluster, **point} if isinstance(point, dict) else point for point in points]
