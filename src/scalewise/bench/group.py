"""Measures the points of one number of workers, inside a group of so many: in each of its workers."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from pydantic import TypeAdapter

from scalewise.bench.measure import Measured, measure
from scalewise.bench.network import Network, measure_network
from scalewise.bench.points import BenchRequest, Point
from scalewise.cluster.collectives import choose_device, joined
from scalewise.cluster.memory import keep_freed_memory
from scalewise.cluster.world import World, threads_per_worker
from scalewise.workloads import Workload


@dataclass(frozen=True)
class GroupResult:
    """What a group measured."""

    workers: int
    workers_per_node: int
    measured: list[Measured]
    """One for each of the points."""
    network: Network | None


as_json: TypeAdapter[GroupResult] = TypeAdapter(GroupResult)
"""How a group hands its result to whoever started it."""


def measure_group(request: BenchRequest, points: Sequence[Point], workload: Workload, world: World) -> GroupResult:
    """Measure one point after the other, and the network between the workers."""
    cluster = points[0].config.cluster
    keep_freed_memory()
    torch.set_num_threads(threads_per_worker(cluster, False, world.local_workers))
    device = choose_device(cluster.device, world)
    with joined(world, device, cluster.timeout_seconds):
        measured = [measure(request, point, workload, world, device) for point in points]
        network = measure_network(4 * measured[0].summed_values, device) if world.workers > 1 else None
    return GroupResult(world.workers, world.local_workers, measured, network)
