"""The folders of a study, in the public batch-science layout: `dataset/model/optimizer/<batch size>/<trial id>/`.

Below the optimizer every folder is named by a number, and whatever else a study keeps lies under `_scalewise`.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalewise.errors import FolderError
from scalewise.record.measurements import MEASUREMENTS, Measurements, as_table
from scalewise.record.results.run import RunMetadata
from scalewise.record.results.study import StudyDescription
from scalewise.record.results.trial import PublishedTrial
from scalewise.storage import LocalStore, Store

OWN = "_scalewise"
"""Where a study keeps what the layout has no place for."""


@dataclass(frozen=True)
class TrialFolder:
    """One trial of a study, by its name: an archive has so many that path objects would cost seconds."""

    name: str

    @property
    def path(self) -> Path:
        """The folder itself."""
        return Path(self.name)

    @property
    def metadata(self) -> str:
        """The file that says how the trial ended."""
        return f"{self.name}/{PublishedTrial.file_name}"

    @property
    def measurements(self) -> str:
        """The file of its evaluations."""
        return f"{self.name}/{MEASUREMENTS}"

    def trial(self) -> PublishedTrial:
        """Read how the trial ended."""
        return PublishedTrial.read(self.path)

    def rows(self) -> list[tuple[int, dict[str, float]]]:
        """Read its evaluations: the step of each and its metrics."""
        return Measurements(LocalStore(self.path)).rows()


def publish(store: Store, folder: str, trial: PublishedTrial, rows: Sequence[tuple[int, Mapping[str, float]]]) -> None:
    """Write a trial into a store, or write what is there again."""
    files = {MEASUREMENTS: as_table(rows), trial.file_name: trial.content()}
    if not store.exists(folder):
        store.write_together(folder, files)
        return
    for name, content in files.items():
        store.write(f"{folder}/{name}", content)


def last_written(folder: Path) -> tuple[int, ...]:
    """Return when the files of a trial were written, to see whether it has progressed; 0: never."""
    files = [folder / RunMetadata.file_name, folder / MEASUREMENTS]
    return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)


@dataclass(frozen=True)
class StudyFolder:
    """All trials of one workload with one optimizer at one batch size."""

    path: Path

    def describe(self, content: StudyDescription) -> None:
        """Write what the study is, unless that is there already: several commands may work on it."""
        if LocalStore(self.path).read(content.file_name) != content.content():
            content.write(self.path)

    def description(self) -> StudyDescription:
        """Read what the study is."""
        return StudyDescription.read(self.path)

    def described(self) -> bool:
        """Say whether the study has begun."""
        return StudyDescription.is_in(self.path)

    def trials(self) -> tuple[list[tuple[int, TrialFolder]], list[Path]]:
        """List the trials that are there by their numbers, and whatever folders have no number for a name."""
        numbered, odd = [], []
        with os.scandir(self.path) as entries:
            for entry in entries:
                if entry.is_dir():
                    name = entry.name
                    if name.isascii() and name.isdigit():
                        numbered.append((int(name), TrialFolder(entry.path)))
                    else:
                        odd.append(Path(entry.path))
        return sorted(numbered, key=lambda pair: pair[0]), sorted(odd)


def find_studies(root: Path) -> Iterator[StudyFolder]:
    """Find every study below a folder, in the order of names and batch sizes."""
    if not root.is_dir():
        raise FolderError(f"{root} is not a folder")
    for folder, below, files in os.walk(root):
        if StudyDescription.file_name in files:
            below.clear()
            yield StudyFolder(Path(folder))
        below[:] = sorted((name for name in below if name != OWN), key=_numbers_by_size)


def _numbers_by_size(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isascii() and name.isdigit() else (-1, name)


def read_json(file: Path | str) -> dict[str, Any]:
    """Read a file that holds keys and values."""
    try:
        descriptor = os.open(file, os.O_RDONLY)  # an archive has a hundred thousand: a stream takes twice as long
        try:
            content = json.loads(os.read(descriptor, os.fstat(descriptor).st_size))
        finally:
            os.close(descriptor)
    except (OSError, ValueError, RecursionError) as error:
        raise FolderError(f"cannot read {file}: {error}") from None
    if not isinstance(content, dict):
        raise FolderError(f"cannot read {file}: it holds no keys")
    return content
