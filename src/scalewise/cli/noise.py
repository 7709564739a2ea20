"""`scalewise noise`."""

from pathlib import Path
from typing import Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, Overrides, Workers, Workload
from scalewise.cli.show import show, show_json, show_tables
from scalewise.errors import ExitCode
from scalewise.requests import NoiseRequest


def _read(
    *,
    workload: Workload,
    steps: Annotated[int, typer.Option(metavar="N", min=4, help="How many steps to train.")] = NoiseRequest.steps,
    workers: Workers = NoiseRequest.workers,
    overrides: Overrides = None,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Keep the run in this folder.")] = NoiseRequest.out,
    as_json: AsJson = NoiseRequest.as_json,
) -> NoiseRequest:
    """Train briefly and predict, from the gradient noise scale, which batch sizes pay."""
    return NoiseRequest(
        workload=workload, steps=steps, workers=workers, overrides=tuple(overrides or ()), out=out, as_json=as_json
    )


def _perform(request: NoiseRequest) -> ExitCode:
    from scalewise.noise.noise import measure_noise
    from scalewise.noise.noise_tables import noise_table, predicted_steps_table

    report = measure_noise(request)
    if request.as_json:
        show_json(report.content())
    else:
        show_tables(noise_table(report), predicted_steps_table(report))
        show("the noise scale is a cheap guess at the critical batch size, and often wrong: measure it with a study")
    return ExitCode.COMPLETE


COMMAND = Command("noise", _read, _perform, ("scalewise noise fashion_mnist/fc_128_128_128 --steps 400",))
