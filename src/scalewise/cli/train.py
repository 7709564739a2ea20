"""`scalewise train`."""

from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.cli.exits import EXIT_CODES
from scalewise.cli.show import show, show_json
from scalewise.cli.waiting import choose_how_to_wait
from scalewise.errors import ExitCode
from scalewise.requests import TrainRequest

if TYPE_CHECKING:
    from scalewise.record.results.run import RunMetadata


ENDS = {
    "target": "reached the target {target}",
    "loss": "reached its training loss",
    "steps": "completed its steps",
    "epochs": "completed its epochs",
    "seconds": "used all of its seconds",
    "signal": "stopped by a signal; the same command continues it",
    "diverged": "diverged: the loss is not finite",
}
"""How a run ended, by the reason."""


def perform(request: TrainRequest) -> ExitCode:
    """Train, and say how the run ended."""
    choose_how_to_wait(request.workload, request.recipe, request.settings)
    from scalewise.run.train import train

    ended = train(request)
    if not ended.reported_elsewhere and not request.quiet:
        metadata = ended.folder.metadata()
        assert metadata is not None
        if request.as_json:
            show_json(metadata.plain())
        else:
            show(_summary(metadata, ended.folder.path))
    return EXIT_CODES[ended.status]


def _summary(metadata: "RunMetadata", folder: Path) -> str:
    """Say in a few words how a run ended."""
    workers = f"{metadata.workers} worker{'s' * (metadata.workers > 1)}"
    ended = "" if metadata.stopped_by is None else f": {ENDS[metadata.stopped_by].format(target=metadata.target)}"
    return (
        f"{metadata.status}{ended}\n"
        f"{metadata.steps:,} steps, {metadata.examples:,} examples, "
        f"{metadata.training_seconds:.1f} s of training on {workers}\n"
        f"results in {folder}"
    )
