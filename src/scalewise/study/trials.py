"""The trials of one batch size on disk: how far each has got, and how it is published."""

import contextlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalewise.analysis.outcomes import first_steps
from scalewise.config import Target
from scalewise.record.folder import METADATA, RunFolder
from scalewise.record.measurements import MEASUREMENTS, as_table
from scalewise.record.status import Status
from scalewise.study.plan import BatchPlan
from scalewise.study.race import Progress, arrived, bound, kept_until

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
        """Return the settings of the trial that arrived first so far."""
        places = arrived(self.progress())
        return self.parameters(places[0][1]) if places else None

    def progress(self) -> list[Progress]:
        """Return how far each trial has got."""
        return [self._progress(trial_id) for trial_id in range(self.plan.trials)]

    def _progress(self, trial_id: int) -> Progress:
        training = self.plan.run_folder(trial_id).path
        if training.exists():
            with contextlib.suppress(FileNotFoundError):
                found = self._read(trial_id, training)
                if training.exists():  # else another process has published it just now, and this may be half of it
                    return found
        published = self.plan.trial(trial_id)
        if not self.plan.store.exists(published):
            return Progress(trial_id)
        return self._read(trial_id, self.plan.out / published)

    def _read(self, trial_id: int, folder: Path) -> Progress:
        files = [folder / METADATA, folder / MEASUREMENTS]
        times = tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)
        seen = self._seen.get(folder)
        if seen is None or seen[0] != times:
            seen = times, read_progress(trial_id, RunFolder(folder), self.plan.target, self.plan.course.max_steps)
            self._seen[folder] = seen
        return seen[1]

    def settled(self) -> bool:
        """Say whether every trial is published as it will stay."""
        store, trials = self.plan.store, map(self.plan.trial, range(self.plan.trials))
        return all(map(store.exists, trials)) and not store.exists(self.plan.runs)

    def settle(self) -> None:
        """Publish every trial as far as it belongs to the study, then remove what it was trained in."""
        trials = self.progress()
        limit = bound(trials) if self.plan.racing else None
        for trial in trials:
            self._publish(trial, kept_until(trial, limit, self.plan.course, self.plan.racing))
        self.plan.store.remove(self.plan.runs)

    def _publish(self, trial: Progress, until: int | None) -> None:
        training = self.plan.run_folder(trial.trial_id)
        store, published = self.plan.store, self.plan.trial(trial.trial_id)
        rows = (training if training.path.exists() else RunFolder(self.plan.out / published)).measurements()
        raced_out = until is not None and not (trial.diverged is not None and trial.diverged <= until)
        kept = [row for row in rows if until is None or row[0] <= until] if raced_out else rows
        metadata = json.dumps(self._metadata(trial, kept, raced_out), indent=2).encode() + b"\n"
        files = {MEASUREMENTS: as_table(kept), METADATA: metadata}
        if not store.exists(published):
            store.write_together(published, files)
            return
        for name, content in files.items():
            store.write(f"{published}/{name}", content)

    def _metadata(self, trial: Progress, kept: Rows, raced_out: bool) -> dict[str, Any]:
        diverged = trial.diverged is not None and not raced_out
        if diverged:
            steps, why = trial.diverged, "diverged"
        elif raced_out:
            steps, why = kept[-1][0] if kept else 0, "race"
        else:
            steps, why = self.plan.course.max_steps, "steps"
        return {
            "trial_id": trial.trial_id,
            "status": Status.INFEASIBLE if diverged else Status.COMPLETE,
            "steps": steps,
            "parameters": self.parameters(trial.trial_id),
            "stopped_by": why,
        }


def read_progress(trial_id: int, folder: RunFolder, target: Target, max_steps: int) -> Progress:
    """Read how far a trial has got from the folder that it is trained, or published, in."""
    metadata, rows = folder.metadata(), folder.measurements()
    measured = [(step, metrics[target.metric]) for step, metrics in rows]
    finite = [(step, value) for step, value in measured if math.isfinite(value)]
    reached = first_steps(finite, target.below, target.value)
    return Progress(
        trial_id,
        measured=rows[-1][0] if rows else None,
        reached=None if reached is None else int(reached),
        diverged=int(metadata.get("steps", 0)) if metadata.get("status") == Status.INFEASIBLE else None,
        finished=metadata.get("status") == Status.COMPLETE and bool(rows) and rows[-1][0] >= max_steps,
    )
