"""The scaling chart: speedup against workers, beside the ideal line."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scalewise.bench.throughput import Series
from scalewise.charts import BASELINE_COLOUR, COLOURS, label_line_ends, plain_axes, save


def draw_speedup(file: Path, lines: Sequence[Series]) -> None:
    """Write the chart to a file."""
    save(speedup_figure(lines), file)


def speedup_figure(lines: Sequence[Series]) -> Figure:
    """Draw one line per series."""
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    plain_axes(axes)
    workers = sorted({point.workers for line in lines for point in line.points})
    axes.plot([0, workers[-1]], [0, workers[-1]], color=BASELINE_COLOUR, linewidth=1.2, linestyle="--", zorder=1)
    ends: list[tuple[float | None, str, str]] = [(float(workers[-1]), "ideal", BASELINE_COLOUR)]
    for line, colour in zip(lines, cycle(COLOURS), strict=False):
        speedups = [line.speedup(point) for point in line.points]
        axes.plot([point.workers for point in line.points], speedups, "o-", color=colour, linewidth=2, markersize=4)
        ends.append((speedups[-1], f"{line.name}: {speedups[-1]:.1f}x", colour))
    axes.set_xlabel("workers")
    axes.set_ylabel("speedup")
    axes.set_xlim(0, 1.02 * workers[-1])
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    label_line_ends(axes, ends)
    return figure
