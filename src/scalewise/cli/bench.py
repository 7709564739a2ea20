"""`scalewise bench`."""

from typing import TYPE_CHECKING

from scalewise.cli.show import show, show_json, show_table
from scalewise.cli.waiting import choose_how_to_wait
from scalewise.requests import BenchFileRequest, BenchRequest

if TYPE_CHECKING:
    from scalewise.bench.bench import Bench


def perform(request: BenchRequest | BenchFileRequest) -> None:
    """Measure, or read what was measured; show speeds and where the time goes."""
    if isinstance(request, BenchRequest):
        choose_how_to_wait(request.workload, None, request.overrides)
    from scalewise.bench.bench import bench, bench_from

    ended = bench(request) if isinstance(request, BenchRequest) else bench_from(request)
    if ended is None:
        return
    if request.as_json:
        show_json(ended.content())
    else:
        _show(ended)
        show(f"results in {request.out}")


def _show(ended: "Bench") -> None:
    from scalewise.bench.table import breakdown_table, speed_table

    show_table(speed_table(ended.series))
    if ended.outcomes:
        show_table(breakdown_table(ended.outcomes))
    for outcome in ended.outcomes:
        show(f"{outcome.throughput.workers} x {outcome.throughput.microbatch}: {outcome.verdict}")
    for workers, network in ended.networks:
        show(f"network between {workers} workers: {network}")
