"""A group of workers that takes steps on request, and sleeps in between, so that groups can be timed in turns.

Run as a program it is one worker: a number on its input is how many steps to take, its answer is the seconds per step.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Annotated

import torch
import typer

from scalewise.bench.measure import take_rounds, warm_up
from scalewise.bench.medians import median
from scalewise.cluster.collectives import joined
from scalewise.cluster.machine_memory import keep_freed_memory
from scalewise.cluster.world import World
from scalewise.config import load_config
from scalewise.loop.loop import Loop, StepResult
from scalewise.loop.step import take_step
from scalewise.loop.votes import Votes
from scalewise.run.build import build_loop, resolved
from scalewise.workloads.find import find_workload

_WARM_UP_STEPS = 3
_TIMEOUT_SECONDS = 1800  # how long a group may have to wait for its turn


class Way(StrEnum):
    """Whose code takes the steps, and whose clock times them."""

    HERE = "here"
    TRAIN = "train"
    BENCH = "bench"


class Group:
    """Workers with one thread each that train by one recipe."""

    def __init__(
        self,
        workload: str,
        settings: Sequence[str],
        workers: int,
        way: Way = Way.HERE,
        script: Path = Path(__file__),
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        options = [word for item in settings for word in ("--set", item)]
        words = [sys.executable, str(script), workload, *options, "--way", way]
        port = _free_port()
        self._workers = [
            subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**environment, **_place(rank, workers, port)},
            )
            for rank in range(workers)
        ]
        self.take_steps(_WARM_UP_STEPS)

    def take_steps(self, steps: int) -> float:
        """Take some steps; return the seconds per step."""
        self.begin(steps)
        return self.end()

    def begin(self, steps: int) -> None:
        """Tell every worker to take some steps."""
        for worker in self._workers:
            assert worker.stdin is not None
            print(steps, file=worker.stdin, flush=True)

    def end(self) -> float:
        """Wait for every worker; return the seconds per step of the slowest."""
        answers = [worker.stdout.readline() for worker in self._workers if worker.stdout is not None]
        return max(float(answer) for answer in answers)

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in self._workers:
            worker.wait()


def take_steps_side_by_side(groups: Sequence[Group], steps: int) -> float:
    """Let groups that share nothing take steps at the same time; return their mean seconds per step."""
    for group in groups:
        group.begin(steps)
    return fmean(group.end() for group in groups)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _place(rank: int, workers: int, port: int) -> dict[str, str]:
    """Return what a launcher would set."""
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": workers, "LOCAL_WORLD_SIZE": workers, "MASTER_PORT": port}
    values = {name: str(value) for name, value in place.items()}
    return {**values, "MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}


def _work(workload: str, settings: Annotated[list[str], typer.Option("--set")], way: Way = Way.HERE) -> None:
    """Take steps on request until the input ends."""
    keep_freed_memory()
    torch.set_num_threads(1)
    world, device, found = World.from_environment(), torch.device("cpu"), find_workload(workload)
    config = resolved(load_config(workload, found.defaults, None, [*settings, "stop.target=null"]), world.workers)
    with joined(world, device, _TIMEOUT_SECONDS):
        loop = build_loop(config, found, world, device, lambda: False)
        take_steps = {Way.HERE: _take_steps, Way.TRAIN: _train, Way.BENCH: _bench}[way](loop)
        for line in sys.stdin:
            print(take_steps(int(line)), flush=True)


def _take_steps(loop: Loop) -> Callable[[int], float]:
    def take_steps(steps: int) -> float:
        started = time.perf_counter()
        for _ in range(steps):
            take_step(loop.parts, Votes)
        return (time.perf_counter() - started) / steps

    return take_steps


def _train(loop: Loop) -> Callable[[int], float]:
    """Drain the loop as `scalewise train` does, with the clock that it reports."""
    results = (result for result in loop.run() if isinstance(result, StepResult))

    def take_steps(steps: int) -> float:
        before = loop.clock.training_seconds
        taken = sum(1 for _ in islice(results, steps))
        return (loop.clock.training_seconds - before) / taken

    return take_steps


def _bench(loop: Loop) -> Callable[[int], float]:
    """Take rounds as `scalewise bench` does, for as long as so many steps take; return the median that it reports."""
    step_seconds = warm_up(loop.parts)

    def take_steps(steps: int) -> float:
        return median(take_rounds(loop.parts, steps * step_seconds, step_seconds, loop.chief)).value

    return take_steps


if __name__ == "__main__":
    typer.run(_work)
