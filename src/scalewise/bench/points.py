"""What is measured: workers and batches, in weak or strong scaling."""

from dataclasses import dataclass

from scalewise.cluster.world import usable_cores
from scalewise.config import AUTO, load_config
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.requests import BenchRequest
from scalewise.run.build import resolved
from scalewise.workloads import Workload

_LEAST = (1,)
"""The placeholder for the largest microbatch until it is found."""


@dataclass(frozen=True)
class Point:
    """One number of workers at one batch."""

    workers: int
    config: ResolvedConfig


def points(request: BenchRequest, workload: Workload) -> list[Point]:
    """List what is measured; a point that cannot be is refused here, before anything runs."""
    threads = max(1, usable_cores() // max(request.workers))
    found = []
    for workers in request.workers:
        for microbatch in _LEAST if request.microbatches == AUTO else request.microbatches:
            overrides = [*request.overrides, f"recipe.microbatch={microbatch}"]
            if request.scaling == "weak":
                overrides.append(f"recipe.global_batch={workers * microbatch}")
            config = resolved(load_config(request.workload, workload.defaults, None, overrides), workers)
            if config.cluster.threads_per_worker == AUTO:
                # The same for every number of workers, so that a speedup does not come from more threads.
                cluster = config.cluster.model_copy(update={"threads_per_worker": threads})
                config = config.model_copy(update={"cluster": cluster})
            found.append(Point(workers, config))
    return found
