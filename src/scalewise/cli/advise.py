"""`scalewise advise`."""

from pathlib import Path
from typing import Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, OutToContinue, Target, Workload
from scalewise.cli.show import show, show_json
from scalewise.errors import ExitCode
from scalewise.requests import AdviseRequest


def _read(
    *,
    workload: Workload,
    out: OutToContinue,
    target: Target = AdviseRequest.target,
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="YAML file of clusters: names, sizes and prices. By default made-up examples."
        ),
    ] = AdviseRequest.clusters,
    minutes: Annotated[float, typer.Option(metavar="X", help="About how long it may take.")] = AdviseRequest.minutes,
    as_json: AsJson = AdviseRequest.as_json,
) -> AdviseRequest:
    """Measure a little of everything, and say which batch, learning rate and cluster to train with."""
    return AdviseRequest(workload=workload, out=out, target=target, clusters=clusters, minutes=minutes, as_json=as_json)


def _perform(request: AdviseRequest) -> ExitCode:
    from rich.console import Console

    from scalewise.advise.advise import Adviser

    found = Adviser(request, Console(stderr=True)).advise()
    if request.as_json:
        show_json(found.plain())
        return ExitCode.COMPLETE
    for sentence in found.sentences():
        show(sentence)
    show(f"report: {request.out / 'report.html'}")
    return ExitCode.COMPLETE


COMMAND = Command(
    "advise",
    _read,
    _perform,
    (
        "scalewise advise digits/fc_64_64 --out runs/advise",
        "scalewise advise my_workload.py:Mine --clusters clusters.yaml --minutes 30 --out runs/mine",
    ),
)
