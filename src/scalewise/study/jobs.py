"""Runs jobs in separate processes, until all are done, a signal comes, or the time is up."""

import contextlib
import multiprocessing
import os
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from typing import Protocol

from scalewise.cluster.collectives import end_with_parent
from scalewise.cluster.machine_memory import keep_freed_memory
from scalewise.cluster.signals import stop_signals_go_to
from scalewise.errors import ExitCode, Failed, Interrupted

_POLL_SECONDS = 0.5


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
    # Forked from a process that has torch imported already: a study of many jobs would import it once for each.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scalewise.study.job", "scalewise.study.confirm"])
    jobs = [context.Process(target=_work, args=(work,)) for _ in range(count)]
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
    _check(jobs, stopped)


def _check(jobs: Sequence[BaseProcess], stopped: bool) -> None:
    """Raise an exception if not all jobs completed their work."""
    unfinished = [job.exitcode for job in jobs if job.exitcode != ExitCode.COMPLETE]
    by_signal = [code for code in unfinished if code == ExitCode.STOPPED or (stopped and code is not None and code < 0)]
    if by_signal != unfinished:
        raise Failed(ExitCode.BUG)
    if unfinished:
        raise Interrupted("the same command continues the study")


def _work(work: Work) -> None:
    """Run a job."""
    end_with_parent(os.getppid())
    keep_freed_memory()
    raise SystemExit(int(work.work()))
