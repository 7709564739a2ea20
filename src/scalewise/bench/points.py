"""What is measured: workers and batches, in weak or strong scaling."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scalewise.cluster.world import usable_cores
from scalewise.config import AUTO, Auto, load_config
from scalewise.errors import ConfigError
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.run.build import resolved
from scalewise.workloads import Workload

_LEAST = (1,)
"""What stands for the largest microbatch until it is found."""


@dataclass(frozen=True)
class BenchRequest:
    """What a user asked for."""

    workload: str
    workers: Sequence[int]
    microbatches: Sequence[int] | Auto
    """Auto: the largest that fits."""
    weak: bool
    seconds: float
    overrides: Sequence[str]
    cluster: str
    synthetic: bool
    trace: bool
    out: Path


def whole_numbers(option: str, text: str) -> list[int]:
    """Read whole numbers separated by commas.

    >>> whole_numbers("--workers", "1,2,4")
    [1, 2, 4]
    """
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ConfigError(f"{option} {text!r} should be different positive whole numbers, such as 1,2,4")
    return numbers


@dataclass(frozen=True)
class Point:
    """One number of workers at one batch."""

    workers: int
    config: ResolvedConfig


def microbatches(text: str) -> Sequence[int] | Auto:
    """Read microbatches: whole numbers, or auto."""
    return AUTO if text == AUTO else whole_numbers("--microbatch", text)


def points(request: BenchRequest, workload: Workload) -> list[Point]:
    """List what is measured; a point that cannot be is refused here, before anything runs."""
    threads = max(1, usable_cores() // max(request.workers))
    found = []
    for workers in request.workers:
        for microbatch in _LEAST if request.microbatches == AUTO else request.microbatches:
            overrides = [*request.overrides, f"recipe.microbatch={microbatch}"]
            if request.weak:
                overrides.append(f"recipe.global_batch={workers * microbatch}")
            config = resolved(load_config(request.workload, workload.defaults, None, overrides), workers)
            if config.cluster.threads_per_worker == AUTO:
                # The same for every number of workers: what more workers bring must not come from other threads.
                cluster = config.cluster.model_copy(update={"threads_per_worker": threads})
                config = config.model_copy(update={"cluster": cluster})
            found.append(Point(workers, config))
    return found
