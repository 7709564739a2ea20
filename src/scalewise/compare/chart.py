"""The picture of a comparison: the curve of every condition, against the baseline."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalewise.charts import BASELINE_COLOUR, COLOURS, label_line_ends, plain_axes, save
from scalewise.compare.results import Curve, Quality
from scalewise.compare.trials import BASELINE, Condition


def draw_curves(file: Path, title: str, curves: Mapping[Condition, Sequence[Curve]], quality: Quality) -> None:
    """Write the picture to a file."""
    save(curves_figure(title, curves, quality), file)


def curves_figure(title: str, curves: Mapping[Condition, Sequence[Curve]], quality: Quality) -> Figure:
    """Draw the mean over seeds as a line and all seeds as a band."""
    figure = Figure(figsize=(8.5, 4.6), layout="constrained")
    axes = figure.subplots()
    plain_axes(axes)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    colours = iter(COLOURS * (1 + len(curves) // len(COLOURS)))
    ends: list[tuple[float | None, str, str]] = []
    for condition, found in curves.items():
        is_baseline = condition.name == BASELINE
        colour = BASELINE_COLOUR if is_baseline else next(colours)
        whole = [curve for curve in found if not curve.diverged]
        label = f"{condition.name}, batch {condition.global_batch:,}" if is_baseline else condition.name
        if not whole:
            ends.append((None, f"{label}: diverged", colour))
            continue
        end = _draw_condition(axes, whole, colour, dashed=is_baseline)
        ends.append((end, label, colour))
    axes.set_xlabel("epochs")
    axes.set_ylabel(quality.label)
    axes.set_xlim(left=0)
    label_line_ends(axes, ends)
    return figure


def _draw_condition(axes: Axes, curves: Sequence[Curve], colour: str, dashed: bool) -> float:
    """Draw one condition; return where its line ends."""
    length = min(len(curve.values) for curve in curves)
    epochs = curves[0].epochs[:length]
    seeds = [curve.values[:length] for curve in curves]
    mean = [sum(values) / len(values) for values in zip(*seeds, strict=True)]
    axes.plot(epochs, mean, color=colour, linewidth=2, linestyle="--" if dashed else "-", zorder=3)
    if len(seeds) > 1:
        low, high = zip(*((min(values), max(values)) for values in zip(*seeds, strict=True)), strict=True)
        axes.fill_between(epochs, low, high, color=colour, alpha=0.15, linewidth=0)
    return float(mean[-1])
