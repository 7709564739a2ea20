"""The study from its plan to its last trial: starts the jobs, and shows how far they have got."""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess

import torch
from rich.console import Console

from scalewise.build import build_loop
from scalewise.cluster.collectives import end_with_parent
from scalewise.cluster.signals import STOP_SIGNALS, handlers_kept
from scalewise.cluster.world import World
from scalewise.errors import ConfigError, ExitCode
from scalewise.study.job import Job
from scalewise.study.plan import BatchPlan, StudyRequest, plan_study
from scalewise.study.trials import Trials
from scalewise.study.view import StudyView
from scalewise.workloads.door import find_workload

_POLL_SECONDS = 0.5


def study(request: StudyRequest, widen: bool, deadline: float | None = None) -> ExitCode:
    """Work on the study until it is done, maybe beyond the ends of its space, or until a moment of the clock."""
    if World.from_environment().launched:
        raise ConfigError("study starts its own jobs: run it by itself, with --jobs")
    plans = plan_study(request)
    if widen:
        plans = [plan if (best := _best(plan)) is None else plan.widened(best) for plan in plans]
    for plan in plans:
        # Whatever does not fit is said now, and not by a job.
        workload = find_workload(request.workload)
        loop = build_loop(plan.config(0), workload, World(), torch.device("cpu"), lambda: False)
        plan.target.check(loop.evaluator.columns())
    for plan in plans:
        plan.folder.describe(plan.description())
    exit_code = ExitCode.COMPLETE
    if not all(Trials(plan).settled() for plan in plans):
        with handlers_kept():
            exit_code = _run_jobs(plans, request.jobs, deadline)
    if exit_code is ExitCode.COMPLETE:
        for sentence in filter(None, map(_at_the_edge, plans)):
            print(sentence, file=sys.stderr)
    return exit_code


def _best(plan: BatchPlan) -> dict[str, float | int] | None:
    return Trials(plan).best_parameters()


def _at_the_edge(plan: BatchPlan) -> str | None:
    """Say where the best trial is at an end of the space, because better ones may lie beyond it."""
    best = _best(plan)
    if best is None or not (edges := plan.edges(best)):
        return None
    ends = {"min_value": "lower", "max_value": "upper"}
    found = " and ".join(
        f"{name} {best[name]:.4g} at the {ends[edge]} end of its range" for name, edge in edges.items()
    )
    return f"batch size {plan.batch_size:,}: the best trial has {found}; --widen tries as many again beyond it"


def _run_jobs(plans: Sequence[BatchPlan], count: int, deadline: float | None) -> ExitCode:
    # Forked from a process that has torch imported already: a study of many jobs would import it once for each.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["scalewise.study.job"])
    jobs = [context.Process(target=_work, args=(plans,)) for _ in range(count)]
    for job in jobs:
        job.start()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        for job in jobs:
            job.terminate()

    for number in STOP_SIGNALS:
        signal.signal(number, lambda number, frame: stop())
    view = StudyView(Console(stderr=True), plans)
    try:
        while any(job.is_alive() for job in jobs):
            view.update()
            time.sleep(_POLL_SECONDS)
            # Again and again: a job that is just starting, or between two trials, may have missed it.
            if stopped or (deadline is not None and time.monotonic() > deadline):
                stop()
    finally:
        view.close()
    return _exit_code(jobs, stopped)


def _exit_code(jobs: Sequence[BaseProcess], stopped: bool) -> ExitCode:
    codes = [job.exitcode for job in jobs]
    if failed := next((code for code in codes if code not in (0, ExitCode.STOPPED)), None):
        return ExitCode.STOPPED if stopped and failed < 0 else ExitCode.BUG
    return ExitCode.STOPPED if ExitCode.STOPPED in codes else ExitCode.COMPLETE


def _work(plans: Sequence[BatchPlan]) -> None:
    """Be a job."""
    end_with_parent(os.getppid())
    raise SystemExit(int(Job(plans).work()))
