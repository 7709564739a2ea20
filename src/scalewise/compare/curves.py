"""How every recipe got there, as a chart and as a table: the curve of each condition against the baseline."""

from collections.abc import Mapping, Sequence

from scalewise.compare.results import Curve, Quality, over_seeds, whole
from scalewise.figures.figure import Figure
from scalewise.figures.plot import Axis, Line, Mark, Plot, Series, Shape
from scalewise.figures.table import Table, numbers, texts
from scalewise.record.results.compare import BASELINE, Condition
from scalewise.words import number

Curves = Mapping[Condition, Sequence[Curve]]

_MANY_MARKS = 30
"""From so many on, a line without dots is easier to read."""


def curves_figure(curves: Curves, quality: Quality) -> Figure:
    """Draw the mean over seeds as a line and all seeds as a band; a recipe that only diverged has its name alone."""
    what = quality.label.partition(", ")[0]
    colours = _colours(curves)
    kept = whole(curves)
    drawn = [
        _series(condition, kept.get(condition, []), colours[condition]) for condition, found in curves.items() if found
    ]
    x, y = Axis("epochs", from_zero=True), Axis(quality.label)
    plot = Plot(f"{what[:1].upper()}{what[1:]} over epochs", x, y, tuple(drawn), about=_about(curves))
    caption = "Lines are means over seeds, bands go from the lowest seed to the highest; the baseline is dashed."
    return Figure("curves", caption, plot)


def curves_table(curves: Curves, quality: Quality) -> Table:
    """Make one row per condition and measurement."""
    columns = numbers("epochs", f"mean {quality.label}", "lowest seed", "highest seed")
    rows = [
        [condition.name, number(round(epoch, 3)), *map(number, (seeds.mean, seeds.lowest, seeds.highest))]
        for condition, found in whole(curves).items()
        for epoch, seeds in over_seeds(found)
    ]
    return Table("Curves", [*texts("recipe"), *columns], rows)


def _colours(curves: Curves) -> dict[Condition, int | None]:
    """Give every recipe a colour; the baseline, which is only there to compare with, has none."""
    others = [condition for condition in curves if condition.name != BASELINE]
    return {condition: others.index(condition) if condition in others else None for condition in curves}


def _about(curves: Curves) -> str:
    baseline = next((condition for condition in curves if condition.name == BASELINE), None)
    batches = sorted({condition.global_batch for condition in curves if condition is not baseline})
    if baseline is None or not batches:
        return ""
    large = ", ".join(f"{batch:,}" for batch in batches)
    return f"{baseline.workload}: recipes at batch {large} against batch {baseline.global_batch:,}"


def _series(condition: Condition, curves: Sequence[Curve], colour: int | None) -> Series:
    is_baseline = condition.name == BASELINE
    name = f"{condition.name}, batch {condition.global_batch:,}" if is_baseline else condition.name
    if not curves:
        return Series(f"{name}: diverged", (), colour, label=f"{name}: diverged")
    points = over_seeds(curves)
    return Series(
        name,
        tuple(Mark(epoch, seeds.mean, f"epoch {number(epoch)}\n{seeds}") for epoch, seeds in points),
        colour,
        Line.DASHED if is_baseline else Line.SOLID,
        Shape.DOT if len(points) <= _MANY_MARKS else Shape.NONE,
        band=tuple((epoch, seeds.lowest, seeds.highest) for epoch, seeds in points) if len(curves) > 1 else (),
        label=name,
    )
