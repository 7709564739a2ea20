"""One process that works on a study: it claims a trial, trains it as far as needed, and looks for the next.

Processes share information only through the folder, so that any number of them, on any machine that sees it, can work
on one study. A claim is a lock that the system releases when its holder dies.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from scalewise.cluster.collectives import choose_device
from scalewise.cluster.world import World
from scalewise.data.splits import Examples
from scalewise.errors import ExitCode
from scalewise.loop.loop import EvalResult
from scalewise.record.folder import RunFolder
from scalewise.record.ledger import note_training
from scalewise.record.status import Status
from scalewise.run.build import splits_on
from scalewise.run.run import run
from scalewise.study.batch_plan import BatchPlan
from scalewise.study.batch_trials import Trials
from scalewise.study.race import Progress, Task, bound, may_decide, tasks
from scalewise.workloads import Workload
from scalewise.workloads.find import find_workload

Point = Mapping[str, float | int]

_POLL_SECONDS = 0.2
_BOUND_SECONDS = 0.5
"""How old the information about other trials may be."""


@dataclass
class Job:
    """What one process needs for its work on a study."""

    plans: Sequence[BatchPlan]
    _trials: list[Trials] = field(init=False)

    def __post_init__(self) -> None:
        self._trials = [Trials(plan) for plan in self.plans]

    def work(self) -> ExitCode:
        """Work until the study is done, or until a signal."""
        torch.set_num_threads(1)
        workload = find_workload(self.plans[0].base.workload)
        splits = load(self.plans[0], workload)
        while True:
            choices = self._choices()
            if choices is None:
                return ExitCode.COMPLETE
            for trials, task in choices:
                with trials.plan.claimed(task.trial_id) as got_it:
                    if got_it and task in _tasks(trials):  # nobody was faster
                        if _train(trials, task, workload, splits):
                            return ExitCode.STOPPED
                        break
            else:
                time.sleep(_POLL_SECONDS)  # other processes have claimed the rest

    def _choices(self) -> list[tuple[Trials, Task]] | None:
        """Return what can be done, best first; None when all is done."""
        choices, settled = [], True
        for trials in self._trials:
            if trials.settled():
                continue
            open_tasks = _tasks(trials)
            if not open_tasks:
                with trials.plan.claimed("settle") as got_it:
                    if got_it and not _tasks(trials):
                        trials.settle()
                        continue
            settled = False
            choices += [(trials, task) for task in open_tasks]
        if settled:
            return None
        hints = {
            trials.plan.batch_size: best for trials in self._trials if (best := trials.best_parameters()) is not None
        }
        return sorted(choices, key=lambda choice: _urgency(choice[0], choice[1], hints))


def _urgency(trials: Trials, task: Task, hints: Mapping[int, Point]) -> tuple[float, float, int]:
    """Put short tasks first, and among equals the one nearest to the best settings of the nearest batch size."""
    share = task.until / trials.plan.course.max_steps
    if not hints:
        return share, 0.0, task.trial_id
    nearest = min(hints, key=lambda size: abs(math.log(size / trials.plan.batch_size)))
    return share, _distance(trials.parameters(task.trial_id), hints[nearest]), task.trial_id


def _distance(one: Point, other: Point) -> float:
    """Return how far apart two settings are, in factors."""
    shared = [(one[name], other[name]) for name in one if name in other]
    return math.hypot(*(math.log(a / b) for a, b in shared if a > 0 and b > 0))


def _tasks(trials: Trials) -> list[Task]:
    return tasks(trials.progress(), trials.plan.course, trials.plan.racing)


def load(plan: BatchPlan, workload: Workload) -> dict[str, Examples]:
    """Load the data once for all trials."""
    world = World()
    return splits_on(plan.base, workload, world, choose_device(plan.base.cluster.device, world))


def _train(trials: Trials, task: Task, workload: Workload, splits: dict[str, Examples]) -> bool:
    """Train one trial as far as it should go; say whether a signal ended it earlier."""
    plan = trials.plan
    judge = Judge(trials, task)
    folder = plan.run_folder(task.trial_id)
    before = _steps(folder)
    started = time.perf_counter()
    # Between two trials a signal ends the process at once, which loses nothing.
    status = run(plan.config(task.trial_id), workload, folder.path, World(), splits, judge.enough)
    after = _steps(folder)
    study = (*plan.name, plan.batch_size)
    note_training(plan.store, study, task.trial_id, range(before, after), time.perf_counter() - started)
    return status is Status.INCOMPLETE and not judge.far_enough


def _steps(folder: RunFolder) -> int:
    known = folder.metadata()
    return 0 if known is None else known.steps


@dataclass
class Judge:
    """Says, at each evaluation of a trial, whether it has gone far enough for now."""

    trials: Trials
    task: Task
    far_enough: bool = False
    _limit: tuple[int, int] | None = None
    _looked: float = -math.inf

    def enough(self, result: EvalResult) -> bool:
        """Look at one evaluation."""
        plan = self.trials.plan
        if not plan.racing or self.task.verifies:
            return False
        here = Progress(self.task.trial_id, measured=result.step)
        reached = plan.target.reached(result.metrics)
        self.far_enough = reached or result.step >= self.task.until or not may_decide(here, self._bound(), plan.course)
        return self.far_enough

    def _bound(self) -> tuple[int, int] | None:
        if time.monotonic() - self._looked > _BOUND_SECONDS:
            self._limit, self._looked = bound(self.trials.progress()), time.monotonic()
        return self._limit
