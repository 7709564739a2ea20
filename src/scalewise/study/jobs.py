"""Runs jobs in separate processes, until all are done, a signal comes, or the time is up."""

import contextlib
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Protocol

from scalewise.cluster.collectives import end_with_parent
from scalewise.cluster.failure_message import failure_message_in, leave_failure_message
from scalewise.cluster.forked import forked
from scalewise.cluster.handover import environment_of_children
from scalewise.cluster.machine_memory import keep_freed_memory
from scalewise.cluster.signals import stop_signals_go_to
from scalewise.errors import ExitCode, Failed, Interrupted, UserError

_POLL_SECONDS = 0.5
_PRELOADED = ("scalewise.study.job", "scalewise.study.confirm")


class Work(Protocol):
    """What a process does; it is sent there, so it is made of plain values."""

    def work(self) -> ExitCode:
        """Work until all is done, or until a signal."""


class JobsView(Protocol):
    """Shows the progress of the jobs."""

    def update(self) -> None:
        """Show the present state."""

    def close(self) -> None:
        """Show the last state."""


def run_jobs(work: Work, count: int, deadline: float | None, view: JobsView) -> None:
    """Let several processes share the same work, until a deadline."""
    with tempfile.TemporaryDirectory(prefix="scalewise-jobs-") as folder:
        given = work, environment_of_children(), Path(folder)
        stopped, exit_codes = _run([forked(_work, given, _PRELOADED) for _ in range(count)], deadline, view)
        _check(exit_codes, stopped, failure_message_in(Path(folder)))


def _run(jobs: Sequence[BaseProcess], deadline: float | None, view: JobsView) -> tuple[bool, list[int | None]]:
    """Start jobs and wait for them; say whether a signal or the clock stopped them, and how each ended."""
    for job in jobs:
        job.start()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        for job in jobs:
            job.terminate()

    with contextlib.closing(view), stop_signals_go_to(lambda number, frame: stop()):
        while any(job.is_alive() for job in jobs):
            view.update()
            time.sleep(_POLL_SECONDS)
            # Again and again: a job that is just starting, or between two trials, may have missed it.
            if stopped or (deadline is not None and time.monotonic() > deadline):
                stop()
    return stopped, [job.exitcode for job in jobs]


def _check(exit_codes: Sequence[int | None], stopped: bool, said: str) -> None:
    """Raise an exception if not all jobs completed their work."""
    unfinished = [code for code in exit_codes if code != ExitCode.COMPLETE]
    by_signal = [code for code in unfinished if code == ExitCode.STOPPED or (stopped and code is not None and code < 0)]
    if ExitCode.MISTAKE in unfinished and said:
        raise UserError(said)
    if by_signal != unfinished:
        raise Failed(ExitCode.BUG, said)
    if unfinished:
        raise Interrupted("the same command continues the study")


def _work(work: Work, environment: Mapping[str, str], folder: Path) -> None:
    """Run a job; leave the message of a failure in a folder."""
    end_with_parent(os.getppid())
    keep_freed_memory()
    os.environ.update(environment)
    try:
        exit_code = work.work()
    except UserError as error:
        leave_failure_message(error, folder)
        exit_code = ExitCode.MISTAKE
    except Exception as error:
        leave_failure_message(error, folder)
        raise
    raise SystemExit(int(exit_code))
