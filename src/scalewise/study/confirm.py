"""Trains the settings that won a study again, with fresh seeds: the best of many may just have been lucky."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from scalewise.cluster.world import World
from scalewise.errors import ExitCode
from scalewise.loop.loop import EvalResult
from scalewise.record.folder import RunFolder
from scalewise.record.status import Status
from scalewise.run.run import run
from scalewise.study.batch_plan import BatchPlan
from scalewise.study.job import load
from scalewise.study.jobs import run_jobs
from scalewise.workloads.find import find_workload

FRESH_RUNS = 3
"""How often a setting is trained again before it is recommended."""
_FIRST_FRESH_SEED = 1_000_000
"""Trials use their numbers as seeds, and no study has so many."""


@dataclass(frozen=True)
class Setting:
    """What one trial of a study was trained with."""

    plan: BatchPlan
    trial_id: int

    def fresh_runs(self) -> Iterator[tuple[int, RunFolder]]:
        """Return the seeds of the fresh runs, each with its folder."""
        for seed in range(_FIRST_FRESH_SEED, _FIRST_FRESH_SEED + FRESH_RUNS):
            yield seed, self.plan.confirmations.folder(self.trial_id, seed)

    def confirmed(self) -> bool:
        """Say whether all fresh runs have ended."""
        return all(folder.finished() for _, folder in self.fresh_runs())


@dataclass(frozen=True)
class ConfirmJob:
    """What one process does: it claims a fresh run, trains it to the target, and looks for the next."""

    settings: Sequence[Setting]

    def work(self) -> ExitCode:
        """Train every fresh run that nobody else has claimed."""
        torch.set_num_threads(1)
        first = self.settings[0].plan
        workload = find_workload(first.base.workload)
        splits = load(first, workload)
        for setting in self.settings:
            for seed, folder in setting.fresh_runs():
                with setting.plan.claimed(f"{setting.trial_id}-{seed}") as got_it:
                    if not got_it or folder.finished():
                        continue
                    config = setting.plan.fresh_config(setting.trial_id, seed)
                    status = run(config, workload, folder.path, World(), splits, _never_enough)
                    if status is Status.INCOMPLETE:
                        return ExitCode.STOPPED
        return ExitCode.COMPLETE


def _never_enough(result: EvalResult) -> bool:
    """Let a run continue to its end, without output."""
    return False


class _Nothing:
    """Shows nothing, because a few runs take little time."""

    def update(self) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Show nothing."""


def confirm(settings: Sequence[Setting], jobs: int, deadline: float | None) -> None:
    """Train settings with fresh seeds, until a deadline; an unfinished run continues next time."""
    run_jobs(ConfirmJob(settings), min(jobs, FRESH_RUNS * len(settings)), deadline, _Nothing())
