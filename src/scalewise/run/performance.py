"""Chooses how the arithmetic is done, from a short probe of real steps at the start of a long run.

Memory format, threads, buckets and a compiled network change the time and, in the model, only rounding. A choice is
kept for all starts of a run, so that a resumed run rounds as before. With `--exact` there is no choice.
"""

import dataclasses
import functools
import logging
import math
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch

from scalewise.cluster.collectives import gather_values
from scalewise.cluster.sums import MessageSum
from scalewise.cluster.world import World, threads_per_worker
from scalewise.config import AUTO
from scalewise.data.splits import Examples
from scalewise.loop.loop import Loop
from scalewise.loop.step import take_step
from scalewise.loop.total import RunningTotal
from scalewise.loop.votes import Votes
from scalewise.optim.kernels import failed_to_compile
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.record.results.run import PerformanceChoice
from scalewise.run.build import GPU_BUCKET_MEGABYTES, bucket_megabytes, build_loop, splits_on
from scalewise.workloads import Workload

_SHORT_RUN_SECONDS = 300.0
_SHARE = 0.02
"""How much of a run its probe may take."""
_WORTH = 0.97
"""A change is made if a step then takes at most this share of its time; smaller gains are noise."""
_TIMED_STEPS = 2
_COMPILE_SECONDS = 60.0
"""How long compiling may take."""
_SAME = 1e-3
"""The largest relative difference between the first losses of a changed and the unchanged network."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExecutionChoice:
    """How the arithmetic is done."""

    memory_format: str
    compiled: bool
    threads_per_worker: int
    workers: int
    bucket_megabytes: float | None = None
    probe_seconds: float = 0.0

    @classmethod
    def default(cls, config: ResolvedConfig, world: World, device: torch.device) -> Self:
        """Return what `auto` stands for without a probe."""
        performance = config.performance
        return cls(
            "channels_last" if performance.memory_format == AUTO else performance.memory_format,
            performance.compile is True,
            threads_per_worker(config.cluster, config.recipe.exact, world.local_workers),
            world.workers,
            bucket_megabytes(config, device),
        )

    @classmethod
    def recorded(cls, earlier: PerformanceChoice, config: ResolvedConfig, world: World, device: torch.device) -> Self:
        """Return the choice of an earlier start, except for what is now set explicitly."""
        performance = config.performance
        kept: dict[str, Any] = {}
        if performance.memory_format == AUTO:
            kept["memory_format"] = earlier.memory_format
        if performance.compile == AUTO:
            kept["compiled"] = earlier.compiled
        if performance.bucket_megabytes == AUTO:
            kept["bucket_megabytes"] = earlier.bucket_megabytes
        if config.cluster.threads_per_worker == AUTO and earlier.workers == world.workers:
            kept["threads_per_worker"] = earlier.threads_per_worker
        return dataclasses.replace(cls.default(config, world, device), probe_seconds=earlier.probe_seconds, **kept)

    def __str__(self) -> str:
        threads = f"{self.threads_per_worker} thread{'s' * (self.threads_per_worker > 1)} per worker"
        network = "compiled" if self.compiled else "not compiled"
        buckets = "" if self.bucket_megabytes is None else f", buckets of {self.bucket_megabytes:g} MB"
        return f"filters {self.memory_format}, {threads}, network {network}{buckets}"

    def settled(self, config: ResolvedConfig) -> ResolvedConfig:
        """Return the configuration without `auto`."""
        cluster = config.cluster.model_copy(update={"threads_per_worker": self.threads_per_worker})
        performance = config.performance.model_copy(
            update={
                "memory_format": self.memory_format,
                "compile": self.compiled,
                "bucket_megabytes": self.bucket_megabytes,
            }
        )
        return config.model_copy(update={"cluster": cluster, "performance": performance})


@dataclass
class Builder:
    """Builds the loop of one run for any choice, from data that is loaded once."""

    config: ResolvedConfig
    workload: Workload
    world: World
    device: torch.device
    interrupted: Callable[[], bool]
    splits: dict[str, Examples] | None = None

    @functools.cached_property
    def _splits(self) -> dict[str, Examples]:
        return self.splits or splits_on(self.config, self.workload, self.world, self.device)

    def build(self, choice: ExecutionChoice) -> Loop:
        """Build the loop, and set its number of threads."""
        torch.set_num_threads(choice.threads_per_worker)
        config = choice.settled(self.config)
        return build_loop(config, self.workload, self.world, self.device, self.interrupted, self._splits)


def choose(builder: Builder, loop: Loop, choice: ExecutionChoice) -> tuple[Loop, ExecutionChoice]:
    """Try what may be faster than the default choice, if the run is long; all workers call it together."""
    changes = _changes(builder.config, choice, loop, builder.device)
    known_to_be_short = loop.rule.seconds is not None and loop.rule.seconds < _SHORT_RUN_SECONDS
    if not changes or known_to_be_short:
        return loop, choice
    started = time.perf_counter()
    if _run_seconds(loop, _probe(loop, steps=1).step_seconds) < _SHORT_RUN_SECONDS:
        return loop, choice
    fastest = _probe(loop, _TIMED_STEPS)
    run_seconds = _run_seconds(loop, fastest.step_seconds)
    for change in changes:
        spent = max(gather_values(time.perf_counter() - started))
        if spent + _cost(change, fastest.step_seconds) > _SHARE * run_seconds:
            continue
        changed = dataclasses.replace(choice, **change)
        candidate = builder.build(changed)
        _probe(candidate, steps=1)  # the first step is a slow one
        probed = _probe(candidate, _TIMED_STEPS)
        same = math.isclose(probed.loss, fastest.loss, rel_tol=_SAME)
        if same and probed.step_seconds < _WORTH * fastest.step_seconds:
            loop, candidate, choice, fastest = candidate, loop, changed, probed
        candidate.parts.feed.source.close()
    torch.set_num_threads(choice.threads_per_worker)
    return loop, dataclasses.replace(choice, probe_seconds=round(time.perf_counter() - started, 3))


def _changes(config: ResolvedConfig, choice: ExecutionChoice, loop: Loop, device: torch.device) -> list[dict[str, Any]]:
    """List the changes to try, one after the other; with `exact` there are none."""
    changes: list[dict[str, Any]] = []
    if config.recipe.exact:
        return changes
    on_cpu = device.type == "cpu"
    if config.cluster.threads_per_worker == AUTO and on_cpu and choice.threads_per_worker > 1:
        changes.append({"threads_per_worker": 1})
    has_filters = any(parameter.ndim == 4 for parameter in loop.parts.state.weights.parameters)
    if config.performance.memory_format == AUTO and has_filters:
        changes.append({"memory_format": "contiguous"})
    if config.performance.bucket_megabytes == AUTO and _sends_messages(loop, choice.workers):
        quarter = len(loop.parts.state.weights.vector) * 4 / 4e6
        other = min(quarter, GPU_BUCKET_MEGABYTES) if choice.bucket_megabytes is None else None
        changes.append({"bucket_megabytes": other})
    if config.performance.compile == AUTO and (not on_cpu or shutil.which("g++")):
        changes.append({"compiled": True})
    return changes


def _sends_messages(loop: Loop, workers: int) -> bool:
    """Say whether the sum over workers is by messages that could be sent earlier."""
    total = loop.parts.total
    return workers > 1 and isinstance(total, RunningTotal) and isinstance(total.worker_sum, MessageSum)


def _cost(change: Mapping[str, Any], step_seconds: float) -> float:
    """Say how long it may take to try a change."""
    return (1 + _TIMED_STEPS) * step_seconds + (_COMPILE_SECONDS if "compiled" in change else 0.0)


def _run_seconds(loop: Loop, step_seconds: float) -> float:
    """Say how long a run will take at most, by its stopping rule; 0 if only a target ends it."""
    ends = [] if loop.rule.last_step is None else [loop.rule.last_step * step_seconds]
    return min([*ends, *([] if loop.rule.seconds is None else [loop.rule.seconds])], default=0.0)


@dataclass(frozen=True)
class _Probed:
    """What a few steps were like, the same on every worker."""

    step_seconds: float
    loss: float


def _probe(loop: Loop, steps: int) -> _Probed:
    """Take a few steps and undo them; a network that cannot be compiled counts as infinitely slow."""
    state = loop.parts.state
    saved = {name: tensor.clone() for name, tensor in state.tensors().items()}
    try:
        started = time.perf_counter()
        losses = [take_step(loop.parts, Votes).loss for _ in range(steps)]
        seconds = (time.perf_counter() - started) / steps
    except Exception as error:
        if not failed_to_compile(error):
            raise
        _log.info("not compiled: %s", error)
        return _Probed(math.inf, math.nan)
    finally:
        state.load(saved)
        state.step = 0
    return _Probed(max(gather_values(seconds)), losses[0])
