"""`scalewise bench`."""

from typing import TYPE_CHECKING

from scalewise.cli.show import show, show_json, show_tables
from scalewise.cli.waiting import choose_how_to_wait
from scalewise.requests import BenchFileRequest, BenchRequest

if TYPE_CHECKING:
    from scalewise.record.results.bench import BenchFile


def perform(request: BenchRequest | BenchFileRequest) -> None:
    """Measure, or read what was measured; show speeds and where the time goes."""
    if isinstance(request, BenchRequest):
        choose_how_to_wait(request.workload, None, request.overrides)
    from scalewise.bench.bench import bench, bench_from

    ended = bench(request) if isinstance(request, BenchRequest) else bench_from(request)
    if ended is None:
        return
    if request.as_json:
        show_json(ended.plain())
    else:
        _show(ended, request.scaling)
        show(f"results in {request.out}")


def _show(ended: "BenchFile", scaling: str) -> None:
    from scalewise.bench.breakdown import breakdown_table
    from scalewise.bench.speedups import speed_table
    from scalewise.record.throughput import speed_series

    lines = speed_series(ended.points, scaling == "weak")
    show_tables(speed_table(lines), *([breakdown_table(ended.breakdown)] if ended.breakdown else []))
    for point in ended.breakdown:
        show(f"{point.workers} x {point.microbatch}: {point.verdict}")
    for network in ended.network:
        show(f"network between {network.workers} workers: {network}")
