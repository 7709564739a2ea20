"""Workers of one machine meet through pipes, and learn at once when one is gone or silent."""

import os
import threading

import pytest

from scalewise.cluster.meeting import Meeting
from scalewise.errors import PeerLost


def pair(timeout_seconds: float) -> tuple[Meeting, Meeting]:
    """Return the two ends of a meeting of two."""
    (from_worker, to_chief), (from_chief, to_worker) = os.pipe(), os.pipe()
    chief = Meeting([from_worker], [to_worker], chief=True, timeout_seconds=timeout_seconds)
    return chief, Meeting([from_chief], [to_chief], chief=False, timeout_seconds=timeout_seconds)


def test_nobody_goes_on_before_everybody_has_come() -> None:
    chief, worker = pair(timeout_seconds=60)
    come: list[str] = []

    def work() -> None:
        for _ in range(1000):
            come.append("worker")
            worker.wait_for_all()
            assert come.count("chief") >= come.count("worker")
            worker.wait_for_all()

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(1000):
        come.append("chief")
        chief.wait_for_all()
        assert come.count("worker") >= come.count("chief")
        chief.wait_for_all()
    thread.join()
    assert len(come) == 2000


def test_a_worker_that_is_gone_is_noticed_by_both_sides() -> None:
    for here in (0, 1):
        meeting = pair(timeout_seconds=60)
        stays = meeting[here]
        del meeting  # the other one closes its ends, as a process does that dies
        with pytest.raises(PeerLost, match="has ended"):
            stays.wait_for_all()


def test_a_silent_worker_is_not_waited_for_for_ever() -> None:
    chief, worker = pair(timeout_seconds=0.01)
    with pytest.raises(PeerLost, match="silent"):
        chief.wait_for_all()
    with pytest.raises(PeerLost, match="silent"):
        worker.wait_for_all()
