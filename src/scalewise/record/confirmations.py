"""Fresh runs of a study's settings, under `_scalewise/confirmed`: for each batch size, trial and seed a run folder."""

from dataclasses import dataclass
from pathlib import Path

from scalewise.loop.stopping import Reason
from scalewise.record.folder import RunFolder
from scalewise.record.status import Status
from scalewise.record.study_folder import OWN, StudyFolder


@dataclass(frozen=True)
class FreshRun:
    """How one of them ended."""

    seed: int
    steps: int
    """To the target, or, where it was not reached, to the end."""
    reached: bool


@dataclass(frozen=True)
class Confirmations:
    """The fresh runs of one batch size."""

    path: Path

    @classmethod
    def of(cls, study: StudyFolder) -> "Confirmations":
        """Find them from the folder of the study."""
        below = study.description().below
        return cls(study.path.parents[len(below.parts) - 1] / OWN / "confirmed" / below)

    def folder(self, trial_id: int, seed: int) -> RunFolder:
        """Return where a trial's settings are trained with a seed."""
        return RunFolder(self.path / str(trial_id) / str(seed))

    def of_trial(self, trial_id: int, target: str) -> list[FreshRun]:
        """Read how the fresh runs to a target ended; those that have not ended are left out."""
        folder = self.path / str(trial_id)
        if not folder.is_dir():
            return []
        seeds = sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdigit())
        ended = [(seed, self.folder(trial_id, seed).metadata()) for seed in seeds]
        return [
            FreshRun(seed, metadata.steps, metadata.stopped_by is Reason.TARGET)
            for seed, metadata in ended
            if metadata is not None and metadata.status is not Status.INCOMPLETE and metadata.target == target
        ]
