"""`scalewise plan`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, Out, Steps, Target
from scalewise.cli.reading import names
from scalewise.cli.show import show, show_json, show_tables
from scalewise.errors import ExitCode
from scalewise.requests import PlanRequest

if TYPE_CHECKING:
    from scalewise.plan.plan import Plan


def _read(
    *,
    clusters: Annotated[
        Path,
        typer.Option(metavar="FILE", help="YAML file of clusters: names, sizes and prices.", show_default=False),
    ],
    study: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of a study, which has the steps.")
    ] = PlanRequest.study,
    steps: Steps = PlanRequest.steps,
    bench: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of a bench, which has the seconds per step.")
    ] = PlanRequest.bench,
    throughput: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A throughput.csv from anywhere, instead of a bench.")
    ] = PlanRequest.throughput,
    target: Target = PlanRequest.target,
    deadline: Annotated[
        float | None, typer.Option(metavar="HOURS", help="How long training may take.")
    ] = PlanRequest.deadline_hours,
    budget: Annotated[
        float | None, typer.Option(metavar="MONEY", help="How much training may cost.")
    ] = PlanRequest.budget,
    reliability: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the runs that must reach the target, from 0 to 1.")
    ] = PlanRequest.reliability,
    only: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Plan only for the clusters of these names, separated by commas."),
    ] = None,
    out: Out = PlanRequest.out,
    as_json: AsJson = PlanRequest.as_json,
) -> PlanRequest:
    """Find the fastest and the cheapest cluster, and everything worth having between."""
    return PlanRequest(
        clusters=clusters,
        study=study,
        steps=steps,
        bench=bench,
        throughput=throughput,
        target=target,
        deadline_hours=deadline,
        budget=budget,
        reliability=reliability,
        only=names(only) if only else PlanRequest.only,
        out=out,
        as_json=as_json,
    )


def _perform(request: PlanRequest) -> ExitCode:
    from scalewise.plan.plan import plan

    planned = plan(request)
    if request.as_json:
        show_json(planned.file.plain(), indent=None)  # which may be long: ten thousand candidates
    else:
        _show(planned)
        show(f"pictures and recipes in {request.out}")
    return ExitCode.COMPLETE


def _show(planned: "Plan") -> None:
    from scalewise.plan.plan_tables import choices_table, size_table

    show_tables(choices_table(planned.file), size_table(planned.file))
    for sentence in [*planned.says, *planned.left_out]:
        show(sentence)
    for one in planned.recommended:
        show(f"{one.name.replace('_', ' ')}: {one.command}")


COMMAND = Command(
    "plan",
    _read,
    _perform,
    (
        "scalewise plan --study runs/study --bench runs/bench --clusters clusters.yaml",
        "scalewise plan --steps steps.csv --throughput throughput.csv --clusters clusters.yaml --deadline 12",
    ),
)
