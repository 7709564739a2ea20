"""A worker's place, and how its threads wait."""

import os
from pathlib import Path

import pytest

from scalewise.cluster import world as world_module
from scalewise.cluster.world import World, environment_of_local_worker, wait_without_spinning
from scalewise.config import Cluster


def test_a_worker_reads_what_our_launcher_has_set() -> None:
    world = World.from_environment(environment_of_local_worker(1, 3, Path("folder/meeting")))
    assert (world.rank, world.workers, world.local_rank, world.local_workers) == (1, 3, 1, 3)
    assert world.launched and world.on_one_machine
    assert world.meeting == Path("folder/meeting") and world.launcher == os.getpid()


@pytest.mark.parametrize(
    ("local_workers", "cluster", "exact", "sleeps"),
    [
        (1, Cluster(), False, False),  # one worker with all cores: spinning is several times faster
        (1, Cluster(threads_per_worker=4), False, False),
        (2, Cluster(), False, False),
        (4, Cluster(), False, False),
        (5, Cluster(), False, True),
        (2, Cluster(threads_per_worker=4), False, True),
        (2, Cluster(threads_per_worker=4), True, False),  # with exact a worker has one thread, whatever is asked
    ],
)
def test_threads_sleep_only_where_there_are_more_than_cores(
    local_workers: int, cluster: Cluster, exact: bool, sleeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_module, "usable_cores", lambda: 4)
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, "to be restored")
        monkeypatch.delenv(name)
    wait_without_spinning(World(workers=local_workers, local_workers=local_workers), cluster, exact)
    assert os.environ.get("OMP_WAIT_POLICY") == ("PASSIVE" if sleeps else None)
