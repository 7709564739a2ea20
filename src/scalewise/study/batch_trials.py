"""The trials of one batch size on disk: how far each has got, and how it is published."""

import contextlib
import math
from dataclasses import dataclass, field
from pathlib import Path

from scalewise.analysis.outcomes import first_steps
from scalewise.config import Target
from scalewise.record.folder import RunFolder
from scalewise.record.results.run import RunMetadata
from scalewise.record.results.trial import PublishedTrial
from scalewise.record.status import Status
from scalewise.record.study_folder import TrialFolder, last_written, publish
from scalewise.study.batch_plan import BatchPlan
from scalewise.study.race import Progress, bound, kept_until, ranked

Rows = list[tuple[int, dict[str, float]]]


@dataclass
class Trials:
    """All trials of one batch size."""

    plan: BatchPlan
    _seen: dict[Path, tuple[tuple[int, ...], Progress]] = field(default_factory=dict)
    """What was read before, with the times of the files that it was read from."""

    _points: dict[int, dict[str, float | int]] = field(default_factory=dict)

    def parameters(self, trial_id: int) -> dict[str, float | int]:
        """Return what a trial tries."""
        if trial_id not in self._points:
            self._points[trial_id] = self.plan.parameters(trial_id)
        return self._points[trial_id]

    def best_parameters(self) -> dict[str, float | int] | None:
        """Return the settings of the trial that needed the fewest steps so far."""
        places = ranked(self.progress())
        return self.parameters(places[0][1]) if places else None

    def progress(self) -> list[Progress]:
        """Return how far each trial has got."""
        return [self._progress(trial_id) for trial_id in range(self.plan.trials)]

    def _progress(self, trial_id: int) -> Progress:
        training, published = self.plan.run_folder(trial_id), self.plan.published(trial_id)
        if training.path.exists():
            with contextlib.suppress(FileNotFoundError):
                found = self._read(trial_id, training)
                if training.path.exists():  # else another process has published it just now, and this may be half of it
                    return found
        return self._read(trial_id, published) if published.path.exists() else Progress(trial_id)

    def _read(self, trial_id: int, folder: RunFolder | TrialFolder) -> Progress:
        times = last_written(folder.path)
        seen = self._seen.get(folder.path)
        if seen is None or seen[0] != times:
            known = folder.metadata() if isinstance(folder, RunFolder) else folder.trial()
            found = progress_of(trial_id, known, _rows(folder), self.plan.target, self.plan.course.max_steps)
            seen = self._seen[folder.path] = times, found
        return seen[1]

    def settled(self) -> bool:
        """Say whether every trial is published in its final form."""
        store, trials = self.plan.store, map(self.plan.trial, range(self.plan.trials))
        return all(map(store.exists, trials)) and not store.exists(self.plan.runs)

    def settle(self) -> None:
        """Publish every trial as far as it belongs to the study, then remove the run folders."""
        trials = self.progress()
        limit = bound(trials) if self.plan.racing else None
        for trial in trials:
            self._publish(trial, kept_until(trial, limit, self.plan.course, self.plan.racing))
        self.plan.store.remove(self.plan.runs)

    def _publish(self, trial: Progress, until: int | None) -> None:
        training, published = self.plan.run_folder(trial.trial_id), self.plan.published(trial.trial_id)
        rows = _rows(training if training.path.exists() else published)
        raced_out = until is not None and not (trial.diverged is not None and trial.diverged <= until)
        kept = [row for row in rows if until is None or row[0] <= until] if raced_out else rows
        publish(self.plan.store, self.plan.trial(trial.trial_id), self._ended(trial, kept, raced_out), kept)

    def _ended(self, trial: Progress, kept: Rows, raced_out: bool) -> PublishedTrial:
        steps, why = self.plan.course.max_steps, "steps"
        if raced_out:
            steps, why = kept[-1][0] if kept else 0, "race"
        elif trial.diverged is not None:
            steps, why = trial.diverged, "diverged"
        return PublishedTrial(
            trial_id=trial.trial_id,
            status=Status.INFEASIBLE if why == "diverged" else Status.COMPLETE,
            steps=steps,
            parameters=self.parameters(trial.trial_id),
            stopped_by=why,
        )


def _rows(folder: RunFolder | TrialFolder) -> Rows:
    return folder.measurements() if isinstance(folder, RunFolder) else folder.rows()


def progress_of(
    trial_id: int, known: RunMetadata | PublishedTrial | None, rows: Rows, target: Target, max_steps: int
) -> Progress:
    """Say how far a trial has got from what it has recorded where it is trained, or published."""
    measured = [(step, metrics[target.metric]) for step, metrics in rows]
    finite = [(step, value) for step, value in measured if math.isfinite(value)]
    reached = first_steps(finite, target.below, target.value)
    status = None if known is None else known.status
    return Progress(
        trial_id,
        measured=rows[-1][0] if rows else None,
        reached=None if reached is None else int(reached),
        diverged=known.steps if known is not None and status is Status.INFEASIBLE else None,
        finished=status is Status.COMPLETE and bool(rows) and rows[-1][0] >= max_steps,
    )
