"""Where the time of a step goes: each worker's phases as bars and as a table."""

from collections.abc import Mapping, Sequence
from statistics import median

from scalewise.figures.bars import Bar, Bars
from scalewise.figures.figure import Figure
from scalewise.figures.table import Table, numbers
from scalewise.record.results.bench import Breakdown, Phase

_MANY_BARS = 12


def phases_figure(points: Sequence[Breakdown]) -> Figure | None:
    """Draw a bar for each worker of each point or, if there are many, for the median worker of each point."""
    bars = [bar for point in points for bar in _bars(point)]
    caption = "One bar for each worker of each point."
    if len(bars) > _MANY_BARS:
        bars = [_middle_bar(point) for point in points if point.phases]
        caption = "One bar for each point: the median of its workers."
    if not bars:
        return None
    chart = Bars("Where the time of a step goes", "ms per step", "ms", tuple(Phase), tuple(bars))
    return Figure("phases", caption, chart)


def breakdown_table(points: Sequence[Breakdown]) -> Table:
    """Make one row per worker of each point."""
    columns = numbers("workers", "global batch", "microbatch", "worker", *(f"{phase}, ms" for phase in Phase))
    rows = [
        [
            f"{point.workers:,}",
            f"{point.global_batch:,}",
            "" if point.microbatch is None else f"{point.microbatch:,}",
            str(rank),
            *(f"{value:.3f}" for value in _milliseconds(phases)),
        ]
        for point in points
        for rank, phases in enumerate(point.phases)
    ]
    return Table("Where the time goes", columns, rows)


def _bars(point: Breakdown) -> list[Bar]:
    alone = len(point.phases) == 1
    return [
        Bar(point.name if alone else f"{point.name}: worker {rank}", _milliseconds(phases))
        for rank, phases in enumerate(point.phases)
    ]


def _middle_bar(point: Breakdown) -> Bar:
    workers = map(_milliseconds, point.phases)
    return Bar(f"{point.name}: the median", tuple(median(values) for values in zip(*workers, strict=True)))


def _milliseconds(phases: Mapping[Phase, float]) -> tuple[float, ...]:
    return tuple(1000 * phases.get(phase, 0.0) for phase in Phase)
