"""The study from its plan to its last trial: starts the jobs, and shows their progress."""

import sys

import torch

from scalewise.cluster.progress_console import progress_console
from scalewise.cluster.world import World
from scalewise.errors import ConfigError
from scalewise.requests import StudyRequest
from scalewise.run.build import build_loop
from scalewise.study.batch_plan import BatchPlan, plan_study
from scalewise.study.batch_trials import Trials
from scalewise.study.job import Job
from scalewise.study.jobs import run_jobs
from scalewise.study.view import StudyView
from scalewise.workloads.find import find_workload


def study(request: StudyRequest, *, deadline: float | None = None) -> None:
    """Work on the study until it is done, maybe beyond the ends of its space, or until a deadline."""
    if World.from_environment().launched:
        raise ConfigError("study starts its own processes: run it without a launcher, with --jobs")
    plans = plan_study(request)
    if request.widen:
        plans = [plan if (best := _best(plan)) is None else plan.widened(best) for plan in plans]
    for plan in plans:
        # A mistake is reported now, and not by a job.
        workload = find_workload(request.workload)
        loop = build_loop(plan.config(0), workload, World(), torch.device("cpu"), lambda: False)
        plan.target.check(loop.evaluator.columns())
        Trials(plan).progress()
    for plan in plans:
        plan.folder.describe(plan.description())
    if not all(Trials(plan).settled() for plan in plans):
        run_jobs(Job(plans), request.jobs, deadline, StudyView(progress_console(), plans))
    for sentence in filter(None, map(_at_the_edge, plans)):
        print(sentence, file=sys.stderr)


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
    return f"batch size {plan.batch_size:,}: the best trial has {found}; --widen tries as many trials again beyond it"
