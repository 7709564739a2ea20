"""The tables of the noise scale: as it was measured, and the steps that it predicts."""

from scalewise.figures.table import Table, numbers
from scalewise.noise.noise import PREDICTED_BATCH_SIZES, NoiseReport, Window
from scalewise.words import interval


def noise_table(report: NoiseReport) -> Table:
    """Return the noise scale in each part of the training."""
    names = ("until step", "noise scale, examples", "95 % interval", "steps measured")
    return Table("Gradient noise scale", numbers(*names), [_window(window) for window in report.windows])


def predicted_steps_table(report: NoiseReport) -> Table:
    """Return the steps that the last noise scale predicts."""
    scale = report.windows[-1].noise_scale.value
    rows = []
    for size in PREDICTED_BATCH_SIZES if scale else ():
        steps = report.predicted_steps(size)
        assert steps is not None and scale is not None
        rows.append([f"{size:,}", f"{steps:,.3g}", f"{steps * size / scale:,.3g}"])
    names = ("batch size", "steps, over the fewest", "examples, over the fewest")
    return Table("Steps against batch size: predicted, not measured", numbers(*names), rows)


def _window(window: Window) -> list[str]:
    found = window.noise_scale
    value, low, high = ("" if end is None else f"{end:,.3g}" for end in (found.value, found.low, found.high))
    return [f"{window.until_step:,}", value or "?", interval(low, high) or "?", f"{found.steps:,}"]
