"""`scalewise train`."""

from pathlib import Path
from typing import Any

from scalewise.cli.show import show, show_json
from scalewise.cli.waiting import choose_how_to_wait
from scalewise.errors import ExitCode
from scalewise.requests import TrainRequest


def perform(request: TrainRequest) -> ExitCode:
    """Train, and say how the run ended."""
    choose_how_to_wait(request.workload, request.recipe, request.settings)
    from scalewise.train import train

    ended = train(request)
    if ended.folder is not None and not request.quiet:
        metadata = ended.folder.metadata()
        if request.as_json:
            show_json(metadata)
        else:
            show(_summary(metadata, ended.folder.path))
    return ended.exit_code


def _summary(metadata: dict[str, Any], folder: Path) -> str:
    """Say in a few words how a run ended."""
    ends = {
        "target": f"reached the target {metadata['target']}",
        "steps": "took its steps",
        "epochs": "took its epochs",
        "seconds": "used its seconds",
        "signal": "was asked to stop; the same command continues it",
        "diverged": "diverged: the loss is not finite",
    }
    workers = f"{metadata['workers']} worker{'s' * (metadata['workers'] > 1)}"
    return (
        f"{metadata['status']}: {ends[metadata['stopped_by']]}\n"
        f"{metadata['steps']:,} steps, {metadata['examples']:,} examples, "
        f"{metadata['training_seconds']:.1f} s of training on {workers}\n"
        f"results in {folder}"
    )
