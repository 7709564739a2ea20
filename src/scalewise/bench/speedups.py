"""How much faster more workers are, as a chart beside the ideal line and as a table."""

from collections.abc import Sequence

from scalewise.figures.figure import Figure
from scalewise.figures.plot import Axis, Line, Mark, Plot, Series, Shape
from scalewise.figures.table import Table, numbers, texts
from scalewise.record.throughput import SpeedSeries, Throughput
from scalewise.words import counted, interval, number, percent, seconds, times


def speedup_figure(lines: Sequence[SpeedSeries]) -> Figure:
    """Draw one line per series."""
    most = max(point.workers for line in lines for point in line.points)
    ends = (Mark(0, 0), Mark(most, most))
    ideal = Series("ideal", ends, None, Line.DASHED, Shape.NONE, silent=True, label="ideal")
    drawn = [_series(line, colour) for colour, line in enumerate(lines)]
    x, y = Axis("workers", from_zero=True, whole=True), Axis("speedup, times one worker", from_zero=True)
    plot = Plot("Speedup against workers", x, y, (ideal, *drawn))
    return Figure("speedup", "The dashed line is the ideal: twice the workers, twice the speed.", plot)


def speed_table(lines: Sequence[SpeedSeries]) -> Table:
    """Make one row per point."""
    names = ("workers", "global batch", "examples/s", "s/step", "95 % interval", "speedup", "efficiency")
    rows = [_row(line, point) for line in lines for point in line.points]
    return Table("Speeds", [*texts("series"), *numbers(*names)], rows)


def _series(line: SpeedSeries, colour: int) -> Series:
    marks = [_mark(line, point) for point in line.points]
    return Series(line.name, tuple(marks), colour, label=f"{line.name}: {times(marks[-1].y)}")


def _mark(line: SpeedSeries, point: Throughput) -> Mark:
    speedup = line.speedup(point)
    says = (
        f"{counted(point.workers, 'worker')}, batch {point.global_batch:,}",
        f"{speedup:.2f}x, {percent(line.efficiency(point))} of the ideal",
        f"{seconds(point.step_seconds)} per step",
    )
    # A slow step is a small speedup: the ends of the interval change places.
    low, high = (None if end is None else speedup * point.step_seconds / end for end in (point.high, point.low))
    return Mark(point.workers, speedup, "\n".join(says), low, high)


def _row(line: SpeedSeries, point: Throughput) -> list[str]:
    return [
        line.name,
        f"{point.workers:,}",
        f"{point.global_batch:,}",
        f"{point.examples_per_second:,.1f}",
        number(point.step_seconds),
        interval(number(point.low), number(point.high)),
        times(line.speedup(point)),
        percent(line.efficiency(point)),
    ]
