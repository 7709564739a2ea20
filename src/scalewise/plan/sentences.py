"""What a plan says in words."""

from collections.abc import Mapping, Sequence

from scalewise.plan.candidates import Candidate
from scalewise.plan.clusters import Cluster
from scalewise.plan.scaling import LEAST_GAIN, Scaling
from scalewise.plan.source import Unstable
from scalewise.plan.statistics import Statistic

_CHOICES = {
    "both": "The fastest and the cheapest",
    "fastest": "The fastest",
    "cheapest": "The cheapest",
    "fastest_within_budget": "The fastest within the budget",
    "cheapest_within_deadline": "The cheapest within the deadline",
}
_ALWAYS = ("fastest", "cheapest")
"""What is chosen without being asked for: where there is none, that is not worth a sentence of its own."""


def choice_sentences(choices: Mapping[str, Candidate | None], currency: str | None) -> list[str]:
    """Say what is recommended."""
    asked = {name: choice for name, choice in choices.items() if choice is not None or name not in _ALWAYS}
    if asked.get("cheapest") is asked.get("fastest"):
        asked = {"both": asked["fastest"]} | {name: one for name, one in asked.items() if name not in _ALWAYS}
    said = [_choice(_CHOICES[name], choice, currency) for name, choice in asked.items()]
    if choices["cheapest"] is None:
        said.append("No cluster has a price, so this plan is about time only.")
    return said


def scaling_sentences(curves: Sequence[Scaling]) -> list[str]:
    """Say how far more workers pay."""
    return [_scaling(curve) for curve in curves if len(curve.points) > 1]


def unstable_sentence(one: Unstable) -> str:
    """Say why a setting that looked best is not recommended.

    >>> unstable_sentence(Unstable(256, 0.41, 59, runs=3, reached=1))
    'Batch 256 with a learning rate of 0.41 took 59 steps in the study, but only 1 of 3 fresh seeds reached the \
target, so it is not recommended.'
    """
    rate = "" if one.learning_rate is None else f" with a learning rate of {one.learning_rate:.3g}"
    reached = f"only {one.reached}" if one.reached else "none"
    return (
        f"Batch {one.global_batch:,}{rate} took {one.steps:,.0f} steps in the study, but {reached} of {one.runs} fresh "
        "seeds reached the target, so it is not recommended."
    )


def _choice(label: str, choice: Candidate | None, currency: str | None) -> str:
    if choice is None:
        return f"{label}: there is none."
    known = choice.statistic
    rate = "" if known.learning_rate is None else f" at a learning rate of {known.learning_rate:.3g}"
    cost = "" if choice.cost is None else f" and {money(choice.cost)} {currency or 'units of money'}"
    risk = f"; {_risk(known)}" if known.reliability != 1 else ""
    predicted = " (predicted)" if choice.predicted else ""
    return (
        f"{label} is {size_of(choice.cluster)} with batch {known.global_batch:,}{rate}: "
        f"{duration(choice.hours)}{cost}{predicted}{risk}."
    )


def _risk(known: Statistic) -> str:
    """Say how often a setting fails, or why nobody knows."""
    if known.reliability is not None:
        return f"{known.reliability:.0%} of its runs reach the target, and the others are paid for"
    if known.best_of is not None:
        return f"it is the luckiest of {known.best_of} trials, so other seeds may take longer or fail"
    return f"how often it reaches the target is {reliability(known)}"


def reliability(known: Statistic) -> str:
    """Say which share of the runs reach the target; a single run does not tell.

    >>> reliability(Statistic(64, None, 100, 100, 0.5, runs=4))
    '50% of 4'
    >>> reliability(Statistic(64, None, 100, 100, None, runs=1))
    'unknown (1 run)'
    """
    if known.reliability is None:
        return f"unknown ({known.runs} run{'s' * (known.runs != 1)})"
    return f"{known.reliability:.0%} of {known.runs}" if known.runs else f"{known.reliability:.0%}"


def size_of(cluster: Cluster) -> str:
    """Name a cluster with its size.

    >>> size_of(Cluster("cloud", 2, 4, None, None, None, "cloud", None))
    'cloud (2 nodes of 4 workers)'
    """
    workers = f"{cluster.workers_per_node} worker{'s' * (cluster.workers_per_node > 1)}"
    return f"{cluster.name} ({f'{cluster.nodes} nodes of ' if cluster.nodes > 1 else ''}{workers})"


def duration(hours: float) -> str:
    """Return a time in a unit that suits it.

    >>> duration(4.189), duration(0.1), duration(0.001)
    ('4.2 hours', '6.0 minutes', '3.6 seconds')
    """
    if hours >= 1:
        return f"{hours:,.1f} hours"
    return f"{60 * hours:.1f} minutes" if 60 * hours >= 1 else f"{3600 * hours:.3g} seconds"


def money(cost: float) -> str:
    """Return a price in figures that mean something.

    >>> money(0.0000048), money(43.87), money(149.6), money(12345)
    ('less than 0.01', '43.87', '149.6', '12,345')
    """
    if cost < 0.01:
        return "less than 0.01"
    return f"{cost:.2f}" if cost < 100 else f"{cost:,.1f}" if cost < 1000 else f"{cost:,.0f}"


def _scaling(curve: Scaling) -> str:
    if curve.worth_up_to is not None:
        return (
            f"{curve.cluster}: beyond {curve.worth_up_to:,} worker{'s' * (curve.worth_up_to > 1)} another doubling "
            f"saves less than {LEAST_GAIN:.0%} of the time."
        )
    last = curve.points[-1].cluster.workers
    why = "" if curve.ended is None else f"; of more nothing can be said: {curve.ended}"
    return f"{curve.cluster}: every doubling up to {last:,} workers pays{why}."


def left_out(missing: Mapping[Cluster, str]) -> list[str]:
    """Say of each cluster which sizes could not be planned with, and what to measure for them."""
    sizes: dict[str, list[int]] = {}
    whys: dict[str, str] = {}
    for cluster, why in missing.items():
        sizes.setdefault(cluster.name, []).append(cluster.nodes)
        whys.setdefault(cluster.name, why)
    return [f"{name} with {_nodes(sizes[name])} is left out: {why}." for name, why in whys.items()]


def _nodes(sizes: Sequence[int]) -> str:
    first, last = sizes[0], sizes[-1]
    return f"{first} to {last} nodes" if last > first else f"{first} node{'s' * (first > 1)}"
