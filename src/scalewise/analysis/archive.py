"""Reads studies in the public layout, from scalewise or other tools, many files at a time.

All trials of a study are read and parsed at once, and several studies at a time. If that fails, trials with the same
columns are parsed together, and at last one by one. Damaged files are left out and named.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from scalewise.analysis.joined import read_joined
from scalewise.cluster.world import usable_cores
from scalewise.errors import FolderError
from scalewise.record.results.study import StudyDescription
from scalewise.record.study_folder import StudyFolder, TrialFolder, find_studies, read_json

COMPLETE, INFEASIBLE = "COMPLETE", "INFEASIBLE"


@dataclass(frozen=True)
class ArchivedTrial:
    """What a trial's metadata say."""

    trial_id: int
    status: str
    steps: int
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Study:
    """One study with all its trials."""

    description: StudyDescription
    trials: list[ArchivedTrial]
    measurements: pl.DataFrame
    """`trial_id`, `step` and the metrics of every evaluation of every trial."""
    metrics: list[str]
    """All metrics that trials measured, also those that were not asked for."""

    @property
    def workload(self) -> tuple[str, str, str]:
        """What the batch size is varied for."""
        return self.description.workload

    @property
    def batch_size(self) -> int:
        """The batch size of all its trials."""
        return self.description.batch_size


@dataclass(frozen=True)
class Skipped:
    """Something that could not be read."""

    path: Path
    why: str


Wanted = Callable[[StudyDescription], Sequence[str]]
"""Says which metrics are needed of a study with some description."""
Read = tuple[Study | None, list[Skipped]]


def read_archive(root: Path, wanted: Wanted | None, skipped: list[Skipped]) -> Iterator[Study]:
    """Read every study below a folder in turn, with all metrics or some; note what is left out."""
    with ThreadPoolExecutor(usable_cores()) as readers:
        for study, left_out in readers.map(functools.partial(_read_study, wanted=wanted), find_studies(root)):
            skipped += left_out
            if study is not None:
                yield study


def _read_study(folder: StudyFolder, wanted: Wanted | None) -> Read:
    skipped: list[Skipped] = []
    try:
        description = folder.description()
        found, odd = folder.trials()
    except FolderError as error:
        return None, [Skipped(folder.path, str(error))]
    skipped += [Skipped(path, "the folder of a trial must be named by a number") for path in odd]
    trials, folders = [], []
    for trial_id, trial_folder in found:
        try:
            trials.append(_read_trial(trial_id, trial_folder))
            folders.append((trial_id, trial_folder))
        except (FolderError, KeyError, TypeError, ValueError) as error:
            skipped.append(Skipped(trial_folder.path, _reason(error)))
    metrics = None if wanted is None else wanted(description)
    measurements, columns, damaged = read_measurements(folders, metrics)
    skipped += damaged
    unreadable = {int(item.path.parent.name) for item in damaged}
    readable = [trial for trial in trials if trial.trial_id not in unreadable]
    named = [name for name in columns if name != "step"]
    return Study(description, readable, measurements, named), skipped


def _reason(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _read_trial(trial_id: int, folder: TrialFolder) -> ArchivedTrial:
    content = read_json(folder.metadata)
    return ArchivedTrial(trial_id, str(content["status"]), int(content["steps"]), dict(content["parameters"]))


def read_measurements(
    folders: Sequence[tuple[int, TrialFolder]], metrics: Sequence[str] | None
) -> tuple[pl.DataFrame, list[str], list[Skipped]]:
    """Read the measurements of some trials into one table; return also all columns, and the files that are damaged."""
    joined = read_joined([folder.measurements for _, folder in folders], metrics)
    if joined is not None:
        return _numbered(joined.table, [trial_id for trial_id, _ in folders], joined.lines), joined.columns, []
    bodies: dict[bytes, list[tuple[int, Path, bytes]]] = {}
    damaged = []
    for trial_id, folder in folders:
        try:
            content = Path(folder.measurements).read_bytes()
        except OSError as error:
            damaged.append(Skipped(Path(folder.measurements), str(error)))
            continue
        header, _, body = content.partition(b"\n")
        body = body if body.endswith(b"\n") or not body else body + b"\n"
        if body.count(b",") != header.count(b",") * body.count(b"\n"):
            damaged.append(Skipped(Path(folder.measurements), "a row is longer or shorter than the header"))
        elif body:
            bodies.setdefault(header.rstrip(b"\r"), []).append((trial_id, Path(folder.measurements), body))
        elif header and not header.startswith(b"step"):
            damaged.append(Skipped(Path(folder.measurements), "it has no column 'step'"))
    tables = []
    for header, same in bodies.items():
        table, unreadable = _parse(header, same)
        damaged += unreadable
        if table is not None:
            tables.append(table)
    empty = pl.DataFrame(schema={"trial_id": pl.Int64, "step": pl.Float64})
    columns = dict.fromkeys(name for header in bodies for name in header.decode(errors="replace").split(","))
    return pl.concat([empty, *tables], how="diagonal"), list(columns), damaged


def _numbered(table: pl.DataFrame, trial_ids: Sequence[int], lines: Sequence[int]) -> pl.DataFrame:
    """Say of every row which trial it belongs to."""
    return table.with_columns(pl.Series("trial_id", np.repeat(trial_ids, lines), dtype=pl.Int64))


def _parse(header: bytes, files: list[tuple[int, Path, bytes]]) -> tuple[pl.DataFrame | None, list[Skipped]]:
    """Parse files with the same header together; where that fails, one by one, to find out which is damaged."""
    columns = header.decode(errors="replace").split(",")
    if "step" not in columns:
        return None, [Skipped(path, "it has no column 'step'") for _, path, _ in files]
    try:
        return _parse_together(columns, files), []
    except (pl.exceptions.PolarsError, UnicodeDecodeError, ValueError) as error:
        if len(files) == 1:
            return None, [Skipped(files[0][1], str(error).partition("\n")[0])]
    parsed = [_parse(header, [file]) for file in files]
    tables = [table for table, _ in parsed if table is not None]
    return pl.concat(tables) if tables else None, [item for _, damaged in parsed for item in damaged]


def _parse_together(columns: list[str], files: list[tuple[int, Path, bytes]]) -> pl.DataFrame:
    lines = [body.count(b"\n") for _, _, body in files]
    table = pl.read_csv(
        b"".join(body for _, _, body in files),
        has_header=False,
        new_columns=columns,
        schema_overrides=dict.fromkeys(columns, pl.Float64),
        raise_if_empty=False,
    )
    if len(table) != sum(lines) or table["step"].null_count():
        raise ValueError("a row is empty")
    return _numbered(table, [trial_id for trial_id, _, _ in files], lines)
