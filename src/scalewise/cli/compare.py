"""`scalewise compare`."""

from typing import Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, OutToContinue, Overrides, Workers, Workload
from scalewise.cli.reading import names
from scalewise.cli.show import show, show_json, show_tables
from scalewise.errors import ExitCode
from scalewise.requests import CompareRequest


def _read(
    *,
    workload: Workload,
    recipes: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="Presets or YAML files, separated by commas. + joins presets, @ names another workload for one.",
            show_default=False,
        ),
    ],
    global_batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="The batch of every recipe.", show_default=False)
    ],
    baseline_batch: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="The batch of the baseline, which the plain recipe trains.", show_default=False
        ),
    ],
    epochs: Annotated[float, typer.Option(metavar="X", help="How long each of them trains.", show_default=False)],
    out: OutToContinue,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="The baseline's learning rate, which scaling starts from. By default the workload's own."
        ),
    ] = CompareRequest.learning_rate,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often each is trained, every time with another seed.")
    ] = CompareRequest.seeds,
    overrides: Overrides = None,
    workers: Workers = CompareRequest.workers,
    as_json: AsJson = CompareRequest.as_json,
) -> CompareRequest:
    """Train by several large-batch recipes and compare them with a small-batch baseline."""
    return CompareRequest(
        workload=workload,
        recipes=names(recipes),
        global_batch=global_batch,
        baseline_batch=baseline_batch,
        epochs=epochs,
        out=out,
        learning_rate=learning_rate,
        seeds=seeds,
        overrides=tuple(overrides or ()),
        workers=workers,
        as_json=as_json,
    )


def _perform(request: CompareRequest) -> ExitCode:
    from scalewise.compare.compare import compare
    from scalewise.compare.recipe_table import recipe_table

    comparison = compare(request)
    if request.as_json:
        show_json(comparison.result.plain())
    else:
        show_tables(recipe_table(comparison.result.rows, comparison.quality))
        show(f"picture and results in {request.out}")
    return ExitCode.COMPLETE


COMMAND = Command(
    "compare",
    _read,
    _perform,
    (
        "scalewise compare digits/fc_64_64 --recipes naive,linear+warmup,lamb --baseline-batch 32 --global-batch 512 "
        "--epochs 10 --seeds 3 --out runs/compare",
    ),
)
