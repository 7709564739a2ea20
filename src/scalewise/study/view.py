"""Shows the progress of a study: a live table on a terminal, a line from time to time elsewhere."""

import datetime
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.table import Table

from scalewise.study.batch_plan import BatchPlan
from scalewise.study.batch_trials import Trials
from scalewise.study.race import Progress, bound, may_decide, ranked, tasks

_LINE_SECONDS = 20.0


@dataclass(frozen=True)
class Standing:
    """The progress of one batch size."""

    batch_size: int
    trials: int
    done: int
    diverged: int
    raced_out: int
    best: int | None
    examples: int
    """How many examples have been trained on so far, in all trials."""
    examples_left: int
    """How many are left at most."""
    verifying: int
    """How many of the best continue to the end, to check that they do not diverge."""


def standing(plan: BatchPlan, trials: Sequence[Progress]) -> Standing:
    """Count the trials of one batch size."""
    limit = bound(trials) if plan.racing else None
    raced_out = [trial for trial in trials if _raced_out(trial, limit, plan)]
    done = [
        trial for trial in trials if trial.ended or trial in raced_out or (plan.racing and trial.reached is not None)
    ]
    places = ranked(trials)
    end = plan.course.max_steps if limit is None else limit[0]
    left = sum(max(0, end - (trial.measured or 0)) for trial in trials if trial not in done)
    verifying = [task.trial_id for task in tasks(trials, plan.course, plan.racing) if task.verifies]
    left += sum(plan.course.max_steps - (trials[trial_id].measured or 0) for trial_id in verifying)
    return Standing(
        plan.batch_size,
        len(trials),
        len(done),
        sum(trial.diverged is not None for trial in trials),
        len(raced_out),
        places[0][0] if places else None,
        plan.batch_size * sum(trial.measured or 0 for trial in trials),
        plan.batch_size * left,
        len(verifying),
    )


def _raced_out(trial: Progress, limit: tuple[int, int] | None, plan: BatchPlan) -> bool:
    started = trial.measured is not None and not trial.ended and trial.reached is None
    return started and not may_decide(trial, limit, plan.course)


class StudyView:
    """Shows a study while jobs work on it."""

    def __init__(self, console: Console, plans: Sequence[BatchPlan]) -> None:
        self._trials = [Trials(plan) for plan in plans]
        self._console = console
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._started, self._first_examples = time.monotonic(), -1
        self._line_shown = 0.0
        if self._live is not None:
            self._live.start()

    def update(self) -> None:
        """Show the present state."""
        if self._live is None and time.monotonic() - self._line_shown < _LINE_SECONDS:
            return
        standings = [standing(trials.plan, trials.progress()) for trials in self._trials]
        if self._live is not None:
            self._live.update(self._table(standings), refresh=True)
            return
        self._line_shown = time.monotonic()
        done, count = sum(one.done for one in standings), sum(one.trials for one in standings)
        best = sum(one.verifying for one in standings)
        verifying = f"; {best} of the best {'continues' if best == 1 else 'continue'} to the end" if best else ""
        self._console.print(f"{done} of {count} trials done{verifying}{self._left(standings)}", highlight=False)

    def close(self) -> None:
        """Show the last state, and release the terminal."""
        self._line_shown = 0.0
        self.update()
        if self._live is not None:
            self._live.stop()

    def _table(self, standings: Sequence[Standing]) -> Table:
        table = Table(caption=f"target {self._trials[0].plan.target}{self._left(standings)}", caption_justify="left")
        for name in ("batch size", "trials done", "diverged", "raced out", "best steps so far", "best continuing"):
            table.add_column(name, justify="right")
        for one in standings:
            best = "" if one.best is None else f"{one.best:,}"
            done = f"{one.done} of {one.trials}"
            verifying = str(one.verifying or "")
            table.add_row(f"{one.batch_size:,}", done, str(one.diverged), str(one.raced_out), best, verifying)
        return table

    def _left(self, standings: Sequence[Standing]) -> str:
        """Say how long it may still take, from the speed since this command began."""
        examples = sum(one.examples for one in standings)
        if self._first_examples < 0:
            self._first_examples = examples
        speed = (examples - self._first_examples) / (time.monotonic() - self._started)
        left = sum(one.examples_left for one in standings)
        if speed <= 0 or not left:
            return ""
        return f"; at most {datetime.timedelta(seconds=round(left / speed))} left"
