"""Trains every built-in workload by its default recipe and records when it reaches its target."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from results import read_results, write_results
from scalewise.data.images import IMAGE_DATA
from training_command import TrainingCommand

_MODELS = ("fc_1024", "fc_64_64_64", "simple_cnn_narrow", "simple_cnn_base", "simple_cnn_wide")
_PAGE = Path(__file__).parent.parent / "docs" / "targets.md"
_INTRODUCTION = """# Targets

Every built-in workload has a target and a default recipe that reaches it; seed 0, one run each, to the first
evaluation past the target. `make bench-targets` makes this page; a workload without a row has not been run yet.
Rows whose `git_commit` is missing in the result file were made by earlier code of the same formulas.
"""


def main(
    only: Annotated[str, typer.Option(help="only workloads whose name contains this; the others keep their row")] = "",
) -> None:
    """Train them one after the other; write results/targets.json and docs/targets.md after each."""
    known = read_results("targets") or {"rows": []}
    rows = {row["workload"]: row for row in known["rows"]}
    for workload in (f"{data}/{model}" for model in _MODELS for data in IMAGE_DATA):
        if only in workload:
            rows[workload] = row = _measure(workload)
            print(f"{workload}: {row['stopped_by']} after {row['epochs']} epochs", flush=True)
            write_results("targets", {"rows": list(rows.values())})
            _PAGE.write_text(page(rows.values()), encoding="utf-8")


def _measure(workload: str) -> dict[str, Any]:
    metadata = TrainingCommand(workload, settings=()).metadata()
    kept = (
        "workload",
        "target",
        "stopped_by",
        "steps",
        "training_seconds",
        "workers",
        "threads_per_worker",
        "git_commit",
    )
    epochs = round(metadata["examples"] / metadata["train_examples"], 2)
    return {**{key: metadata[key] for key in kept}, "epochs": epochs}


def page(rows: Iterable[dict[str, Any]]) -> str:
    """Return the whole page."""
    origin = read_results("targets")
    assert origin is not None
    hardware, versions = origin["hardware"], origin["versions"]
    lines = [
        f"| {row['workload']} | {row['target']} | {'yes' if row['stopped_by'] == 'target' else 'no'} | "
        f"{row['steps']:,} | {row['epochs']:g} | {row['training_seconds']:,.1f} |"
        for row in rows
    ]
    return "\n".join(
        [
            _INTRODUCTION,
            f"One worker on {hardware['processor']}, {hardware['cores']} cores; torch {versions['torch']}. The machine",
            "did other work meanwhile, which the seconds show.",
            "",
            "| workload | target | reached | steps | epochs | seconds of training |",
            "|---|---|---|---:|---:|---:|",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    typer.run(main)
