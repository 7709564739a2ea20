"""`scalewise bench`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scalewise.cli.command import Command
from scalewise.cli.options import AsJson, Out, Overrides, Scaling
from scalewise.cli.reading import microbatches, scaling, whole_numbers
from scalewise.cli.show import show, show_json, show_tables
from scalewise.cli.waiting import choose_how_to_wait
from scalewise.errors import ExitCode, UserError
from scalewise.requests import BenchFileRequest, BenchRequest, by_commas

if TYPE_CHECKING:
    from scalewise.record.results.bench import BenchFile
    from scalewise.requests import Scaling as ScalingWord


def _read(
    *,
    workload: Annotated[
        str | None, typer.Argument(metavar="WORKLOAD", help="dataset/model, or path/to/file.py:MyWorkload.")
    ] = None,
    workers: Annotated[
        str,
        typer.Option(
            metavar="N,N,...", help="Numbers of workers, separated by commas; under a launcher, its own number."
        ),
    ] = by_commas(BenchRequest.workers),
    microbatch: Annotated[
        str,
        typer.Option(
            metavar="N,N,...|auto", help="Microbatches, separated by commas. auto finds the largest that fits."
        ),
    ] = by_commas(tuple(BenchRequest.microbatches)),
    scaling_: Scaling = BenchRequest.scaling,
    seconds: Annotated[
        float, typer.Option(metavar="X", help="How long each point is measured at most.")
    ] = BenchRequest.seconds,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Use one microbatch again and again: reading data costs nothing."),
    ] = BenchRequest.synthetic,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also record a few steps as a Chrome trace.")
    ] = BenchRequest.trace,
    cluster: Annotated[
        str, typer.Option(metavar="NAME", help="What throughput.csv calls this cluster.")
    ] = BenchRequest.cluster,
    overrides: Overrides = None,
    from_: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Show this throughput.csv instead of measuring.")
    ] = None,
    out: Out = BenchRequest.out,
    as_json: AsJson = BenchRequest.as_json,
    group_result: Annotated[Path | None, typer.Option(hidden=True)] = BenchRequest.group_result,
) -> BenchRequest | BenchFileRequest:
    """Measure seconds per step against workers and batch, and where the time goes."""
    if workload is not None and from_ is not None:
        raise UserError("bench measures a workload or shows what --from names, not both")
    if from_ is not None:
        return BenchFileRequest(file=from_, scaling=scaling(scaling_), out=out, as_json=as_json)
    if workload is None:
        raise UserError("bench needs a workload, or --from with a throughput.csv")
    return BenchRequest(
        workload=workload,
        workers=whole_numbers("--workers", workers),
        microbatches=microbatches(microbatch),
        scaling=scaling(scaling_),
        seconds=seconds,
        synthetic=synthetic,
        trace=trace,
        cluster=cluster,
        overrides=tuple(overrides or ()),
        out=out,
        as_json=as_json,
        group_result=group_result,
    )


def _perform(request: BenchRequest | BenchFileRequest) -> ExitCode:
    if isinstance(request, BenchRequest):
        choose_how_to_wait(request.workload, None, request.overrides)
    from scalewise.bench.bench import bench, bench_from

    ended = bench(request) if isinstance(request, BenchRequest) else bench_from(request)
    if ended is None:
        return ExitCode.COMPLETE
    if request.as_json:
        show_json(ended.plain())
    else:
        _show(ended, request.scaling)
        show(f"results in {request.out}")
    return ExitCode.COMPLETE


def _show(ended: "BenchFile", scaling: "ScalingWord") -> None:
    from scalewise.bench.breakdown import breakdown_table
    from scalewise.bench.speedups import speed_table
    from scalewise.record.throughput import series

    lines = series(ended.points, scaling == "weak")
    show_tables(speed_table(lines), *([breakdown_table(ended.breakdown)] if ended.breakdown else []))
    for point in ended.breakdown:
        show(f"{point.workers} x {point.microbatch}: {point.verdict}")
    for network in ended.network:
        show(f"network between {network.workers} workers: {network}")


COMMAND = Command(
    "bench",
    _read,
    _perform,
    (
        "scalewise bench fashion_mnist/simple_cnn_base --workers 1,2 --microbatch 32,64",
        "scalewise bench --from throughput.csv",
    ),
)
