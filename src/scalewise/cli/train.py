"""`scalewise train`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.exits import EXIT_CODES
from scalewise.cli.options import AsJson, Overrides, Workload
from scalewise.cli.show import show, show_json
from scalewise.cli.waiting import choose_how_to_wait
from scalewise.errors import ExitCode
from scalewise.requests import TrainRequest

if TYPE_CHECKING:
    from scalewise.record.results.run import RunMetadata


def _read(
    *,
    workload: Workload,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="RECIPE",
            help="A YAML file of settings, such as a run's run.yaml, or presets, such as linear+warmup.",
        ),
    ] = TrainRequest.recipe,
    overrides: Overrides = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Training processes on this machine; under a launcher, its own number."),
    ] = TrainRequest.workers,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Run folder. An unfinished run in it is continued.")
    ] = TrainRequest.out,
    exact: Annotated[
        bool, typer.Option("--exact", help="Make the model bit-identical for every number of workers.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Move an existing run folder aside and start again.")
    ] = TrainRequest.fresh,
    as_json: AsJson = TrainRequest.as_json,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing at the end.")] = TrainRequest.quiet,
) -> TrainRequest:
    """Train a workload by a recipe on any number of workers: the same model every time."""
    return TrainRequest(
        workload=workload,
        recipe=recipe,
        overrides=(*(overrides or ()), *(("recipe.exact=true",) if exact else ())),
        workers=workers,
        out=out,
        fresh=fresh,
        as_json=as_json,
        quiet=quiet,
    )


def _perform(request: TrainRequest) -> ExitCode:
    choose_how_to_wait(request.workload, request.recipe, request.overrides)
    from scalewise.run.train import train

    ended = train(request)
    if not ended.told and not request.quiet:
        metadata = ended.folder.metadata()
        assert metadata is not None
        if request.as_json:
            show_json(metadata.plain())
        else:
            show(_summary(metadata, ended.folder.path))
    return EXIT_CODES[ended.status]


def _summary(metadata: "RunMetadata", folder: Path) -> str:
    """Say in a few words how a run ended."""
    ends = {
        "target": f"reached the target {metadata.target}",
        "steps": "took its steps",
        "epochs": "took its epochs",
        "seconds": "used its seconds",
        "signal": "was asked to stop; the same command continues it",
        "diverged": "diverged: the loss is not finite",
    }
    workers = f"{metadata.workers} worker{'s' * (metadata.workers > 1)}"
    ended = "" if metadata.stopped_by is None else f": {ends[metadata.stopped_by]}"
    return (
        f"{metadata.status}{ended}\n"
        f"{metadata.steps:,} steps, {metadata.examples:,} examples, "
        f"{metadata.training_seconds:.1f} s of training on {workers}\n"
        f"results in {folder}"
    )


COMMAND = Command(
    "train",
    _read,
    _perform,
    (
        "scalewise train digits/fc_64_64",
        "scalewise train mnist/simple_cnn_base --workers 2 --set recipe.global_batch=512 --out runs/mine",
    ),
)
