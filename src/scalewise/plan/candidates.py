"""Steps times seconds: what every batch size would take and cost on every cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scalewise.plan.clusters import SizedCluster
from scalewise.plan.speeds import Refused, Speeds, StepTime
from scalewise.plan.statistics import Statistic
from scalewise.record.results.plan import Offer

_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Candidate:
    """One batch size with one learning rate on one cluster."""

    cluster: SizedCluster
    statistic: Statistic
    step_time: StepTime

    @cached_property
    def hours(self) -> float:
        """How long it is expected to take, with retries."""
        return self._hours(self.step_time.seconds)

    def _hours(self, step_seconds: float) -> float:
        return self.statistic.expected_steps * step_seconds / _SECONDS_PER_HOUR

    @cached_property
    def cost(self) -> float | None:
        """What it is expected to cost; None if the cluster has no price."""
        price = self.cluster.price_per_hour
        return None if price is None else self.hours * price

    @property
    def predicted(self) -> bool:
        """Whether the steps or their time were not measured."""
        return self.statistic.predicted or self.step_time.predicted

    @cached_property
    def offer(self) -> Offer:
        """The value that is written and shown."""
        known, time = self.statistic, self.step_time
        return Offer(
            cluster=self.cluster.name,
            nodes=self.cluster.nodes,
            workers=self.cluster.workers,
            global_batch=known.global_batch,
            learning_rate=known.learning_rate,
            steps=known.steps,
            expected_steps=known.expected_steps,
            step_seconds=time.seconds,
            hours=self.hours,
            low_hours=self._hours(time.low),
            high_hours=self._hours(time.high),
            cost=self.cost,
            reliability=known.reliability,
            runs=known.runs,
            best_of=known.best_of,
            predicted=self.predicted,
            accuracy=known.accuracy,
        )


def candidates(
    clusters: Iterable[SizedCluster], known: Sequence[Statistic], speeds: Speeds, left_out: dict[SizedCluster, str]
) -> list[Candidate]:
    """Combine all batch sizes and clusters that fit together; note why a cluster is left out."""
    found = []
    for cluster in clusters:
        fitting = [one for one in known if _fits(one, cluster)]
        times = speeds.step_times(cluster, {one.global_batch for one in fitting})
        timed = [
            Candidate(cluster, one, time) for one in fitting if isinstance(time := times[one.global_batch], StepTime)
        ]
        if not timed:
            left_out[cluster] = _why(times)
        found += timed
    return found


def _why(times: Mapping[int, StepTime | Refused]) -> str:
    """Say why a cluster has no candidate: for the largest batch, which suits many workers best."""
    refused = [(batch, time.why) for batch, time in times.items() if isinstance(time, Refused)]
    return max(refused)[1] if refused else "no batch size is known to reach the target on it"


def _fits(statistic: Statistic, cluster: SizedCluster) -> bool:
    """Say whether every worker has an example, and whether the steps hold for this cluster."""
    return statistic.global_batch >= cluster.workers and statistic.cluster in (None, cluster.name)


def fastest(found: Iterable[Candidate], budget: float | None = None) -> Candidate | None:
    """Return the fastest, maybe within a budget; at equal times the one that costs less, or is more accurate."""
    within = [one for one in found if budget is None or (one.cost is not None and one.cost <= budget)]
    return min(within, key=lambda one: (one.hours, one.cost or 0.0, -(one.statistic.accuracy or 0.0)), default=None)


def cheapest(found: Iterable[Candidate], deadline_hours: float | None = None) -> Candidate | None:
    """Return the cheapest, maybe within a deadline; at equal costs the faster one."""
    within = [one for one in found if deadline_hours is None or one.hours <= deadline_hours]
    priced = [(one.cost, one.hours, number) for number, one in enumerate(within) if one.cost is not None]
    return within[min(priced)[-1]] if priced else None


def frontier(found: Iterable[Candidate]) -> list[Candidate]:
    """Return those that no other beats in both time and cost, fastest first."""
    best: list[Candidate] = []
    for one in sorted((one for one in found if one.cost is not None), key=lambda one: (one.hours, one.cost or 0.0)):
        if not best or (one.cost or 0.0) < (best[-1].cost or 0.0):
            best.append(one)
    return best
