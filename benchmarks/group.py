"""A group of workers that takes steps when it is told to, and sleeps in between, so that groups can be timed in turns.

Run as a program it is one worker: a number on its input is how many steps to take, its answer is the seconds they took.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import fmean
from typing import Annotated

import torch
import typer

from scalewise.build import build_loop, resolved
from scalewise.cluster.collectives import joined
from scalewise.cluster.memory import keep_freed_memory
from scalewise.cluster.world import World, wait_without_spinning
from scalewise.config import load_config
from scalewise.loop.step import take_step
from scalewise.loop.votes import Votes
from scalewise.workloads.door import find_workload

_WARM_UP_STEPS = 3
_TIMEOUT_SECONDS = 1800  # how long a group may have to wait for its turn


class Group:
    """Workers with one thread each that train by one recipe."""

    def __init__(self, workload: str, settings: Sequence[str], workers: int) -> None:
        words = [sys.executable, __file__, workload, *(word for item in settings for word in ("--set", item))]
        port = _free_port()
        self._workers = [
            subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment(rank, workers, port)
            )
            for rank in range(workers)
        ]
        self.take_steps(_WARM_UP_STEPS)

    def take_steps(self, steps: int) -> float:
        """Take some steps; return the seconds per step."""
        self.begin(steps)
        return self.end() / steps

    def begin(self, steps: int) -> None:
        """Tell every worker to take some steps."""
        for worker in self._workers:
            assert worker.stdin is not None
            print(steps, file=worker.stdin, flush=True)

    def end(self) -> float:
        """Wait for every worker; return the seconds of the slowest."""
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
    return fmean(group.end() for group in groups) / steps


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(rank: int, workers: int, port: int) -> dict[str, str]:
    """Return what a launcher would set."""
    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": workers, "LOCAL_WORLD_SIZE": workers, "MASTER_PORT": port}
    values = {name: str(value) for name, value in place.items()}
    return {**os.environ, **values, "MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}


def _work(workload: str, settings: Annotated[list[str], typer.Option("--set")]) -> None:
    """Take steps as told until the input ends."""
    keep_freed_memory()
    torch.set_num_threads(1)
    world, device, found = World.from_environment(), torch.device("cpu"), find_workload(workload)
    config = resolved(load_config(workload, found.defaults, None, [*settings, "stop.target=null"]), world.workers)
    with joined(world, device, _TIMEOUT_SECONDS):
        parts = build_loop(config, found, world, device, lambda: False).parts
        for line in sys.stdin:
            started = time.perf_counter()
            for _ in range(int(line)):
                take_step(parts, Votes)
            print(time.perf_counter() - started, flush=True)


if __name__ == "__main__":
    wait_without_spinning()
    typer.run(_work)
