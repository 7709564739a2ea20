"""`scalewise study`."""

from pathlib import Path
from typing import Annotated

import typer

from scalewise.cli import analyze
from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, OutToContinue, Overrides, Target, Workload
from scalewise.cli.reading import check_positive, whole_numbers
from scalewise.errors import ExitCode, UserError
from scalewise.requests import AnalyzeRequest, StudyRequest


def _read(
    *,
    workload: Workload,
    batch_sizes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Separated by commas, such as 16,64,256.", show_default=False)
    ],
    out: OutToContinue,
    trials: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many settings are tried at each batch size.")
    ] = StudyRequest.trials,
    optimizer: Annotated[
        str | None, typer.Option(metavar="NAME", help="By default the workload's own.")
    ] = StudyRequest.optimizer,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML file of the settings to search and their ranges.")
    ] = StudyRequest.space,
    target: Target = StudyRequest.target,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The step at which every trial ends at the latest.")
    ] = StudyRequest.max_steps,
    max_epochs: Annotated[
        float | None, typer.Option(metavar="X", help="The same in epochs.")
    ] = StudyRequest.max_epochs,
    race: Annotated[
        bool, typer.Option("--race/--no-race", help="Stop trials that cannot change the answer.")
    ] = StudyRequest.racing,
    widen: Annotated[
        bool,
        typer.Option(
            "--widen",
            help="Where the best trial is at the end of a range, try as many settings again beyond it.",
        ),
    ] = StudyRequest.widen,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Decides which settings are tried.")
    ] = StudyRequest.seed,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Trials at a time, each with one thread.")
    ] = StudyRequest.jobs,
    overrides: Overrides = None,
    as_json: AsJson = StudyRequest.as_json,
) -> StudyRequest:
    """Measure steps to target against batch size, each batch size with well-tuned settings of its own."""
    check_positive("--max-epochs", max_epochs)
    if max_steps is not None and max_epochs is not None:
        raise UserError("give --max-steps or --max-epochs, not both")
    return StudyRequest(
        workload=workload,
        batch_sizes=whole_numbers("--batch-sizes", batch_sizes),
        out=out,
        trials=trials,
        optimizer=optimizer,
        space=space,
        target=target,
        max_steps=max_steps,
        max_epochs=max_epochs,
        racing=race,
        widen=widen,
        seed=seed,
        jobs=jobs,
        overrides=tuple(overrides or ()),
        as_json=as_json,
    )


def _perform(request: StudyRequest) -> ExitCode:
    from scalewise.study.study import study

    study(request)
    targets = () if request.target is None else (request.target,)
    return analyze.COMMAND.perform(AnalyzeRequest(folder=request.out, targets=targets, as_json=request.as_json))


COMMAND = Command(
    "study",
    _read,
    _perform,
    ("scalewise study mnist/fc_128_128_128 --batch-sizes 16,64,256,1024 --max-epochs 20 --jobs 2 --out runs/study",),
)
