"""What a plan says in words."""

from collections.abc import Mapping, Sequence

from scalewise.plan.candidates import Candidate
from scalewise.plan.clusters import SizedCluster
from scalewise.plan.scaling_out import LEAST_GAIN, Scaling
from scalewise.plan.statistics import Statistic
from scalewise.plan.steps_source import Unstable
from scalewise.record.results.plan import CHOICES
from scalewise.words import counted, duration, money, percent

_LABELS = {"both": "The fastest and the cheapest", **{name: f"The {word}" for name, word in CHOICES.items()}}
_ALWAYS = ("fastest", "cheapest")
"""Choices that are always made; if there is none, no sentence says so."""


def choice_sentences(choices: Mapping[str, Candidate | None], currency: str | None) -> list[str]:
    """Say what is recommended."""
    asked = {name: choice for name, choice in choices.items() if choice is not None or name not in _ALWAYS}
    if asked.get("cheapest") is asked.get("fastest"):
        asked = {"both": asked["fastest"]} | {name: one for name, one in asked.items() if name not in _ALWAYS}
    said = [_choice(_LABELS[name], choice, currency) for name, choice in asked.items()]
    if choices["cheapest"] is None:
        said.append("No cluster has a price, so this plan is about time only.")
    return said


def scaling_sentences(curves: Sequence[Scaling]) -> list[str]:
    """Say how far more workers pay off."""
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
    cost = "" if choice.cost is None else f" and {money(choice.cost, currency or 'units of money')}"
    risk = f"; {_risk(known)}" if known.reliability != 1 else ""
    predicted = " (predicted)" if choice.predicted else ""
    return (
        f"{label} is {_size_of(choice.cluster)} with batch {known.global_batch:,}{rate}: "
        f"{duration(choice.hours)}{cost}{predicted}{risk}."
    )


def _size_of(cluster: SizedCluster) -> str:
    return size(cluster.name, cluster.nodes, cluster.workers)


def _risk(known: Statistic) -> str:
    """Say how often a setting fails, or why that is unknown."""
    if known.reliability is not None:
        return f"{percent(known.reliability)} of its runs reach the target, and the failed runs are included"
    if known.best_of is not None:
        return (
            f"it is the best of {known.best_of} trials and may have been lucky, so other seeds may take longer or fail"
        )
    return f"how often it reaches the target is {reach(known.reliability, known.runs)}"


def reach(share: float | None, runs: int | None) -> str:
    """Say which share of the runs reach the target; with a single run, that is unknown.

    >>> reach(0.5, 4), reach(1.0, 0), reach(None, 1), reach(None, None)
    ('50 % of 4', '100 %', 'unknown (1 run)', 'unknown')
    """
    if share is None or runs == 1:
        return "unknown" if runs is None else f"unknown ({counted(runs, 'run')})"
    return f"{percent(share)} of {runs:,}" if runs else percent(share)


def size(cluster: str, nodes: int | None, workers: int) -> str:
    """Name a cluster with its size.

    >>> size("cloud", 2, 8), size("here", 1, 1)
    ('cloud (2 nodes of 4 workers)', 'here (1 worker)')
    """
    if nodes is None or nodes == 1:
        return f"{cluster} ({counted(workers, 'worker')})"
    return f"{cluster} ({nodes:,} nodes of {counted(workers // nodes, 'worker')})"


def _scaling(curve: Scaling) -> str:
    if curve.worth_up_to is not None:
        return (
            f"{curve.cluster}: beyond {counted(curve.worth_up_to, 'worker')} another doubling saves less than "
            f"{percent(LEAST_GAIN)} of the time."
        )
    last = curve.points[-1].cluster.workers
    why = "" if curve.ended is None else f"; nothing can be said about more workers: {curve.ended}"
    return f"{curve.cluster}: every doubling up to {last:,} workers pays off{why}."


def left_out(missing: Mapping[SizedCluster, str]) -> list[str]:
    """Say for each cluster which sizes are left out, and what to measure for them."""
    sizes: dict[str, list[int]] = {}
    whys: dict[str, str] = {}
    for cluster, why in missing.items():
        sizes.setdefault(cluster.name, []).append(cluster.nodes)
        whys.setdefault(cluster.name, why)
    return [f"{name} with {_nodes(sizes[name])} is left out: {why}." for name, why in whys.items()]


def _nodes(sizes: Sequence[int]) -> str:
    first, last = sizes[0], sizes[-1]
    return f"{first} to {last} nodes" if last > first else counted(first, "node")
