"""Time and cost against workers, also for clusters that nobody has: how far another doubling pays off."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from scalewise.plan.candidates import Candidate, candidates, fastest
from scalewise.plan.clusters import SizedCluster
from scalewise.plan.speeds import Speeds
from scalewise.plan.statistics import Statistic
from scalewise.record.results.plan import ScalingCurve

LEAST_GAIN = 0.1
"""What a doubling of the workers must save of the time to be worth it."""
_MOST_WORKERS = 4096


@dataclass(frozen=True)
class Scaling:
    """The fastest candidate for each number of workers of one kind."""

    cluster: str
    points: list[Candidate]
    ended: str | None
    """Why nothing can be said about more workers; None: a batch has no examples for more workers."""

    @property
    def worth_up_to(self) -> int | None:
        """The workers beyond which another doubling saves less than a tenth; None where the curve ends before that."""
        for here, doubled in zip(self.points, self.points[1:], strict=False):
            if doubled.hours > (1 - LEAST_GAIN) * here.hours:
                return here.cluster.workers
        return None

    @property
    def curve(self) -> ScalingCurve:
        """The value that is written and shown."""
        return ScalingCurve(self.cluster, tuple(point.offer for point in self.points), self.worth_up_to, self.ended)


def scaling(cluster: SizedCluster, known: Sequence[Statistic], speeds: Speeds) -> Scaling:
    """Double the nodes of a cluster until every worker has a single example, or no prediction is possible."""
    most = min(_MOST_WORKERS, max(one.global_batch for one in known))
    known = _fewest_steps(known)
    points: list[Candidate] = []
    size = _resized(cluster, 1)
    while size.workers <= most:
        refused: dict[SizedCluster, str] = {}
        best = fastest(candidates([size], known, speeds, refused))
        if best is None:
            return Scaling(cluster.name, points, refused[size])
        points.append(best)
        size = _resized(cluster, 2 * size.nodes)
    return Scaling(cluster.name, points, None)


def _fewest_steps(known: Sequence[Statistic]) -> list[Statistic]:
    """Keep the best learning rate of each batch size."""
    best: dict[tuple[int, str | None], Statistic] = {}
    for one in sorted(known, key=lambda one: one.expected_steps, reverse=True):
        best[one.global_batch, one.cluster] = one
    return list(best.values())


def _resized(cluster: SizedCluster, nodes: int) -> SizedCluster:
    price = cluster.price_per_hour
    in_proportion = None if price is None else price * nodes / cluster.nodes
    return dataclasses.replace(cluster, nodes=nodes, price_per_hour=in_proportion)
