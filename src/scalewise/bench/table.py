"""The tables of a bench, for the terminal."""

from collections.abc import Sequence

from rich.table import Table

from scalewise.bench.bench import Outcome
from scalewise.bench.phases import Phase
from scalewise.bench.throughput import Series, Throughput


def speed_table(lines: Sequence[Series]) -> Table:
    """Make the table of speeds: one row per point."""
    table = _table(
        "series", "workers", "global batch", "examples/s", "s/step", "95 % interval", "speedup", "efficiency"
    )
    for line in lines:
        for point in line.points:
            table.add_row(
                line.name,
                str(point.workers),
                f"{point.global_batch:,}",
                f"{point.examples_per_second:,.1f}",
                f"{point.step_seconds:.4g}",
                _interval(point),
                f"{line.speedup(point):.1f}x",
                f"{line.efficiency(point):.0%}",
            )
    return table


def breakdown_table(outcomes: Sequence[Outcome]) -> Table:
    """Make the table of where the time goes: one row per worker of each point."""
    table = _table("workers", "microbatch", "worker", *(f"{phase}, ms" for phase in Phase))
    for outcome in outcomes:
        for rank, phases in enumerate(outcome.measured.phases):
            point = outcome.throughput
            times = [f"{1000 * phases[phase]:.2f}" for phase in Phase]
            table.add_row(str(point.workers), str(point.microbatch), str(rank), *times)
    return table


def _interval(point: Throughput) -> str:
    return "" if point.low is None or point.high is None else f"{point.low:.4g} to {point.high:.4g}"


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table
