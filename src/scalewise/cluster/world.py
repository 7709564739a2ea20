"""The world of workers: the only reader of launcher environment variables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from scalewise.config import AUTO, Cluster
from scalewise.errors import ConfigError


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
        except ValueError as error:
            raise ConfigError(f"the launcher's RANK and WORLD_SIZE are not numbers: {error}") from None
        if not 0 <= rank < workers:
            raise ConfigError(f"the launcher's RANK={rank} is not below WORLD_SIZE={workers}")
        return cls(rank, workers, local_rank, local_workers, launched=True, restarts=restarts)

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


def wait_without_spinning() -> None:
    """Let idle threads sleep, so that workers on the same cores do not hold each other up; before torch is imported."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")


def usable_cores() -> int:
    """Count the cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
