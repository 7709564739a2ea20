"""Training leaves the process that it runs in as it was: a notebook, a server, somebody's tests."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from host_state import state
from mischief import MISCHIEF, mischief
from scalewise.errors import UserError
from scalewise.record.status import Status
from scalewise.requests import TrainRequest
from scalewise.run.train import train


def asked(out: Path, *overrides: str, workload: str = "digits/fc_64") -> TrainRequest:
    return TrainRequest(workload=workload, out=out, overrides=("stop.steps=3", "stop.epochs=null", *overrides))


def test_nothing_is_left_after_training(tmp_path: Path) -> None:
    before = state()
    assert train(asked(tmp_path, "recipe.exact=true", "cluster.threads_per_worker=1")).status is Status.COMPLETE
    assert state() == before


def test_nothing_is_left_after_training_on_workers(tmp_path: Path) -> None:
    before = state()
    assert train(asked(tmp_path, "cluster.workers=2")).status is Status.COMPLETE
    assert state() == before


def test_a_thread_can_train(tmp_path: Path) -> None:
    before = state()
    ended: list[Status] = []
    thread = threading.Thread(target=lambda: ended.append(train(asked(tmp_path)).status))
    thread.start()
    thread.join()
    assert ended == [Status.COMPLETE]
    assert state() == before


@pytest.mark.parametrize(
    ("workload", "overrides", "error"),
    [
        ("digits/fc_64", ("stop.target=val/nothing<1",), UserError),
        (MISCHIEF, (), ZeroDivisionError),
    ],
)
def test_nothing_is_left_after_a_failure(
    workload: str, overrides: tuple[str, ...], error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in mischief("raise", tmp_path / "once", count=3).items():
        monkeypatch.setenv(name, value)
    before = state()
    with pytest.raises(error):
        train(asked(tmp_path / "run", *overrides, workload=workload))
    assert state() == before


def test_a_signal_stops_a_training_in_the_main_thread(tmp_path: Path) -> None:
    before = state()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM))
    timer.start()
    try:
        ended = _interrupted(
            lambda: train(asked(tmp_path, "stop.steps=100000000", "stop.target=null", "performance.compile=false"))
        )
    finally:
        timer.cancel()
        timer.join()
    assert ended is Status.INCOMPLETE
    assert state() == before


def _interrupted(work: Callable[[], Any]) -> Status:
    """Return how training ended that a signal stopped; it must not reach this process."""
    received: list[int] = []
    earlier = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        status: Status = work().status
        assert not received
        return status
    finally:
        signal.signal(signal.SIGTERM, earlier)
