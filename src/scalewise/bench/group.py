"""Measures the points of one number of workers, in each worker of a group."""

import dataclasses
from dataclasses import dataclass

import torch
from pydantic import TypeAdapter

from scalewise.bench.fits import largest_microbatch
from scalewise.bench.measure import MeasuredPoint, measure
from scalewise.bench.network import measure_network
from scalewise.bench.points import points
from scalewise.cluster.collectives import choose_device, joined
from scalewise.cluster.host import host_kept
from scalewise.cluster.world import World, threads_per_worker
from scalewise.config import AUTO
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.record.results.bench import NetworkSpeed
from scalewise.requests import BenchRequest
from scalewise.run.build import build_loop
from scalewise.workloads import Workload


@dataclass(frozen=True)
class GroupResult:
    """What a group measured."""

    workers: int
    workers_per_node: int
    microbatches: list[int]
    measured: list[MeasuredPoint]
    """One for each of the microbatches."""
    network: NetworkSpeed | None


as_json: TypeAdapter[GroupResult] = TypeAdapter(GroupResult)
"""How a group passes its result to the process that started it."""


def measure_group(request: BenchRequest, workload: Workload, world: World) -> GroupResult:
    """Measure one point after the other, and the network between the workers."""
    config = points(request, workload)[0].config
    cluster = config.cluster
    device = choose_device(cluster.device, world)
    with host_kept(), joined(world, device, cluster.timeout_seconds):
        torch.set_num_threads(threads_per_worker(cluster, False, world.local_workers))
        if request.microbatches == AUTO:
            largest = _largest_microbatch(request, config, workload, world, device)
            request = dataclasses.replace(request, microbatches=(largest,))
        everything = points(request, workload)
        measured = [measure(request, point, workload, world, device) for point in everything]
        network = measure_network(world.workers, 4 * measured[0].summed_values, device) if world.workers > 1 else None
    microbatches = [int(point.config.recipe.microbatch) for point in everything]
    return GroupResult(world.workers, world.local_workers, microbatches, measured, network)


def _largest_microbatch(
    request: BenchRequest, config: ResolvedConfig, workload: Workload, world: World, device: torch.device
) -> int:
    """Find the largest microbatch that fits: at most all examples, or in strong scaling a worker's share of a batch."""
    parts = build_loop(config, workload, world, device, lambda: False).parts
    most = len(parts.feed.source.examples) if request.scaling == "weak" else config.recipe.global_batch // world.workers
    return largest_microbatch(parts, most, world)
