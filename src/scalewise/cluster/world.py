"""The world of workers: the only reader of launcher environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from scalewise.config import AUTO, Cluster
from scalewise.errors import ConfigError

_MEETING, _LAUNCHER = "SCALEWISE_MEETING", "SCALEWISE_LAUNCHER"


def environment_of_local_worker(rank: int, workers: int, meeting: Path) -> dict[str, str]:
    """Return the variables that our launcher sets for a worker; `World.from_environment` reads them."""
    place = {"RANK": rank, "WORLD_SIZE": workers, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": workers}
    own = {_MEETING: meeting, _LAUNCHER: os.getpid()}
    threads = {"OMP_NUM_THREADS": "1"}  # until the worker has chosen for itself
    return {name: str(value) for name, value in {**place, **own, **threads}.items()}


@dataclass(frozen=True)
class World:
    """This worker's place among all workers."""

    rank: int = 0
    workers: int = 1
    local_rank: int = 0
    local_workers: int = 1
    launched: bool = False
    """Whether a launcher started this process, so that it must not outlive it."""
    restarts: int = 0
    """How often the launcher has started this group again."""
    meeting: Path | None = None
    """The file through which the workers of our own launcher find each other; others have an address."""
    launcher: int | None = None
    """The process that our own launcher is."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read this worker's place from what torchrun, or the local launcher, has set."""
        if "RANK" not in environment or "WORLD_SIZE" not in environment:
            return cls()
        try:
            rank, workers = int(environment["RANK"]), int(environment["WORLD_SIZE"])
            local_rank = int(environment.get("LOCAL_RANK", 0))
            local_workers = int(environment.get("LOCAL_WORLD_SIZE", 1))
            restarts = int(environment.get("TORCHELASTIC_RESTART_COUNT", 0))
            launcher = int(environment[_LAUNCHER]) if _LAUNCHER in environment else None
        except ValueError as error:
            raise ConfigError(f"the launcher's RANK and WORLD_SIZE are not numbers: {error}") from None
        if not 0 <= rank < workers:
            raise ConfigError(f"the launcher's RANK={rank} is not below WORLD_SIZE={workers}")
        meeting = Path(environment[_MEETING]) if _MEETING in environment else None
        return cls(rank, workers, local_rank, local_workers, True, restarts, meeting, launcher)

    @property
    def on_one_machine(self) -> bool:
        """Whether all workers are on this machine."""
        return self.local_workers == self.workers

    @property
    def chief(self) -> bool:
        """Whether this is the one worker that reads and writes the run folder and speaks to the user."""
        return self.rank == 0


def threads_per_worker(cluster: Cluster, exact: bool, local_workers: int) -> int:
    """Share out this machine's cores among its workers.

    With `exact` every worker has one thread, whatever the cluster: kernels cut their sums by thread.
    """
    if exact:
        return 1
    if cluster.threads_per_worker != AUTO:
        return cluster.threads_per_worker
    return max(1, usable_cores() // local_workers)


def readers_per_worker(cluster: Cluster, local_workers: int) -> int:
    """Say how many processes read ahead for each worker: as many as it has cores, at least one."""
    return max(1, usable_cores() // local_workers) if cluster.readers == AUTO else cluster.readers


def wait_without_spinning(world: World, cluster: Cluster, exact: bool) -> None:
    """Let idle threads sleep where workers have more threads than cores; must come before torch is imported.

    Threads that spin while they wait delay others that need their core. If each has a core, spinning is better: a small
    step is several times slower with threads that must be woken up for every kernel.
    """
    if world.local_workers * threads_per_worker(cluster, exact, world.local_workers) > usable_cores():
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        os.environ.setdefault("GOMP_SPINCOUNT", "0")


def usable_cores() -> int:
    """Count the cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
