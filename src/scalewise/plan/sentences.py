"""What a plan says in words."""

from collections.abc import Mapping, Sequence

from scalewise.plan.candidates import Candidate
from scalewise.plan.clusters import Cluster
from scalewise.plan.scaling import LEAST_GAIN, Scaling

_CHOICES = {
    "both": "The fastest and the cheapest",
    "fastest": "The fastest",
    "cheapest": "The cheapest",
    "fastest_within_budget": "The fastest within the budget",
    "cheapest_within_deadline": "The cheapest within the deadline",
}
_ALWAYS = ("fastest", "cheapest")
"""What is chosen without being asked for: where there is none, that is not worth a sentence of its own."""


def sentences(choices: Mapping[str, Candidate | None], curves: Sequence[Scaling], currency: str | None) -> list[str]:
    """Say what is recommended, and how far more workers pay."""
    asked = {name: choice for name, choice in choices.items() if choice is not None or name not in _ALWAYS}
    if asked.get("cheapest") is asked.get("fastest"):
        asked = {"both": asked["fastest"]} | {name: one for name, one in asked.items() if name not in _ALWAYS}
    said = [_choice(_CHOICES[name], choice, currency) for name, choice in asked.items()]
    if choices["cheapest"] is None:
        said.append("No cluster has a price, so this plan is about time only.")
    return [*said, *(_scaling(curve) for curve in curves if len(curve.points) > 1)]


def _choice(label: str, choice: Candidate | None, currency: str | None) -> str:
    if choice is None:
        return f"{label}: there is none."
    known = choice.statistic
    rate = "" if known.learning_rate is None else f" at a learning rate of {known.learning_rate:.3g}"
    cost = "" if choice.cost is None else f" and {money(choice.cost)} {currency or 'units of money'}"
    risk = "" if known.reliability == 1 else f"; {known.reliability:.0%} of its runs arrive, the others are paid for"
    predicted = " (predicted)" if choice.predicted else ""
    return (
        f"{label} is {size_of(choice.cluster)} with batch {known.global_batch:,}{rate}: "
        f"{duration(choice.hours)}{cost}{predicted}{risk}."
    )


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
