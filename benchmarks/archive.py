"""Makes an archive as large as the public one, analyses it, and compares reading it with pandas and with Polars."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import pandas as pd
import polars as pl
import typer

from results import write_results
from rounds import ratios, spread, take_turns
from scalewise.analysis.archive import Skipped, read_archive
from scalewise.record.results.study import StudyDescription
from tables import archive_table, render_readme

_METRICS = [
    f"{split}/{metric}"
    for split in ("train", "val", "test")
    for metric in ("cross_entropy_error", "classification_error")
]
_BATCH_SIZES = [2**power for power in range(1, 14)]
_DIFFERENT_CURVES = 200
_SAMPLED = 30
"""Studies that the others read in a round: all of them would take too long. Seconds per study are compared."""


def main(
    out: Annotated[Path, typer.Option(help="where the archive is made: several gigabytes")] = Path("runs/archive"),
    studies: Annotated[int, typer.Option(min=1)] = 454,
    trials: Annotated[int, typer.Option(min=1)] = 220,
    rows: Annotated[int, typer.Option(min=2)] = 700,
    rounds: Annotated[int, typer.Option(min=1, help="how often reading is compared")] = 15,
) -> None:
    """Make, analyse, compare, and write the result file and the table."""
    shutil.rmtree(out, ignore_errors=True)
    folders = list(_make_archive(out, studies, trials, rows))
    os.sync()  # what is still being written would be in the way of who reads first
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "scalewise", "analyze", str(out), "--json"], check=True, stdout=subprocess.DEVNULL
    )
    seconds = time.perf_counter() - started
    peak_bytes = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    sample = folders[:: -(-len(folders) // _SAMPLED)]
    measures = {
        "scalewise": lambda: _time(lambda: _read(out)) / len(folders),
        "pandas": lambda: _time(lambda: _read_with_pandas(sample)) / len(sample),
        "polars": lambda: _time(lambda: _read_with_polars(sample)) / len(sample),
    }
    figures = take_turns(measures, rounds)
    faster = {name: ratios(figures[name], figures["scalewise"]) for name in ("pandas", "polars")}
    row: dict[str, Any] = {
        "studies": studies,
        "trials": studies * trials,
        "rows": studies * trials * rows,
        "gigabytes": round(sum(file.stat().st_size for file in out.rglob("*.csv")) / 1e9, 2),
        "analyze_seconds": round(seconds, 1),
        "peak_gigabytes": round(peak_bytes / 1e9, 2),
    }
    for name, values in faster.items():
        row[f"faster_than_{name}"] = round(median(values), 2)
        row[f"faster_than_{name}_range"] = [round(end, 2) for end in spread(values)]
    write_results("archive", {"rounds": rounds, "rows": [row]}, ["pandas", "polars"])
    render_readme()
    print(archive_table([row]))
    shutil.rmtree(out)


def _make_archive(out: Path, studies: int, trials: int, rows: int) -> Iterator[Path]:
    """Write studies whose curves have the public ones' shape: errors that fall with the steps, more slowly for some."""
    draws = np.random.default_rng(0)
    curves = [_curve(rows, draws) for _ in range(_DIFFERENT_CURVES)]
    for number in range(studies):
        workload, batch_size = divmod(number, len(_BATCH_SIZES))
        folder = out / "mnist" / f"fc_{64 + workload}" / "sgd" / str(_BATCH_SIZES[batch_size])
        folder.mkdir(parents=True)
        names = {"dataset": "mnist", "model": f"fc_{64 + workload}", "optimizer": "sgd"}
        rest = {"early_stopping": False, "train_steps": rows, "parameter_configs": {}}
        (folder / "study.json").write_text(json.dumps({"batch_size": _BATCH_SIZES[batch_size], **names, **rest}))
        for trial_id in range(trials):
            _make_trial(folder / str(trial_id), trial_id, rows, curves[draws.integers(len(curves))])
        yield folder


def _curve(rows: int, draws: np.random.Generator) -> bytes:
    """Return the measurements of a trial."""
    steps = 10 * np.arange(rows)
    error = 0.9 * (1 + steps) ** -draws.uniform(0.1, 0.6)
    numbers = error[:, None] * draws.uniform(0.8, 1.2, (1, len(_METRICS)))
    lines = [f"{step},{','.join(map(repr, row))}" for step, row in zip(steps.tolist(), numbers.tolist(), strict=True)]
    return "\n".join([",".join(["step", *_METRICS]), *lines, ""]).encode()


def _make_trial(folder: Path, trial_id: int, rows: int, curve: bytes) -> None:
    folder.mkdir()
    metadata = {"trial_id": trial_id, "status": "COMPLETE", "steps": 10 * rows, "parameters": {"learning_rate": 0.1}}
    (folder / "metadata.json").write_text(json.dumps(metadata))
    (folder / "measurements.csv").write_bytes(curve)


def _time(read: Callable[[], None]) -> float:
    started = time.perf_counter()
    read()
    return time.perf_counter() - started


def _wanted(description: StudyDescription) -> list[str]:
    """Want what analyze wants: the metric of a target."""
    return ["val/classification_error"]


def _read(out: Path) -> None:
    skipped: list[Skipped] = []
    for _ in read_archive(out, _wanted, skipped):
        pass
    assert not skipped


def _read_with_pandas(studies: list[Path]) -> None:
    for study in studies:
        tables = []
        for trial in sorted((entry for entry in study.iterdir() if entry.is_dir()), key=lambda entry: int(entry.name)):
            metadata = json.loads((trial / "metadata.json").read_text())
            table = pd.read_csv(trial / "measurements.csv")
            tables.append(table.assign(trial_id=metadata["trial_id"], status=metadata["status"]))
        pd.concat(tables)


def _read_with_polars(studies: list[Path]) -> None:
    """Read all trials of a study at once, with Polars' own way to read many files."""
    for study in studies:
        trials = sorted((entry for entry in study.iterdir() if entry.is_dir()), key=lambda entry: int(entry.name))
        for trial in trials:
            json.loads((trial / "metadata.json").read_text())
        files = [trial / "measurements.csv" for trial in trials]
        table = pl.scan_csv(files, include_file_paths="file")
        table.select("step", "val/classification_error", "file").collect()


if __name__ == "__main__":
    typer.run(main)
