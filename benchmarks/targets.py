"""Trains every built-in workload by its default recipe and records when it reaches its target."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from results import read_results, write_results
from scalewise.models.fully_connected import FULLY_CONNECTED
from scalewise.workloads.images import Pair
from scalewise.workloads.registry import IMAGES
from training_command import TrainingCommand

_WIDTHS = ("fc_1024", "fc_64_64_64")  # of any widths, these
_PAGE = Path(__file__).parent.parent / "docs" / "targets.md"
_INTRODUCTION = """# Targets

Every built-in workload has a target and a default recipe that reaches it. Each row is one run with seed 0, up to the
first evaluation past the target. `make bench-targets` makes this page; a workload without a row has not been run yet.
The largest subset of MNIST is MNIST itself, with the same recipe, so one run counts for both.
"""


def main(
    only: Annotated[str, typer.Option(help="only workloads whose name contains this; the others keep their row")] = "",
) -> None:
    """Train them one after the other; write results/targets.json and docs/targets.md after each."""
    known = read_results("targets") or {"rows": []}
    rows = {row["workload"]: row for row in known["rows"]}
    everything = dict(_workloads())
    for workload in [only] if only in everything else [name for name in everything if only in name]:
        twin = _twin(workload, everything)
        rows[workload] = row = {**rows[twin], "workload": workload, "same_run_as": twin} if twin else _measure(workload)
        print(f"{workload}: {row['stopped_by']} after {row['epochs']} epochs", flush=True)
        ordered = [rows[name] for name in everything if name in rows]
        write_results("targets", {"rows": ordered})
        _PAGE.write_text(page(ordered), encoding="utf-8")


def _workloads() -> Iterator[tuple[str, Pair]]:
    for pair in IMAGES.pairs:
        names = _WIDTHS if pair.network is FULLY_CONNECTED else pair.network.names
        yield from ((f"{pair.data.name}/{name}", pair) for name in names)


def _twin(workload: str, everything: Mapping[str, Pair]) -> str | None:
    """Name an earlier workload with the same examples, network and recipe, whose run is the same run."""
    model = workload.rpartition("/")[2]
    pair = everything[workload]
    for name, other in everything.items():
        if name == workload:
            return None
        same_examples = (other.data.source, other.data.examples) == (pair.data.source, pair.data.examples)
        if same_examples and other.default == pair.default and name == f"{other.data.name}/{model}":
            return name
    return None


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
            "did other work at the same time, which makes some of the times longer.",
            "",
            "| workload | target | reached | steps | epochs | seconds of training |",
            "|---|---|---|---:|---:|---:|",
            *lines,
            "",
        ]
    )


if __name__ == "__main__":
    typer.run(main)
