"""The tables of the noise scale, for a terminal."""

from rich.table import Table

from scalewise.analysis.noise import PREDICTED_BATCH_SIZES, NoiseReport


def noise_table(report: NoiseReport) -> Table:
    """Return the noise scale in each part of the training."""
    table = Table(title="gradient noise scale", title_justify="left")
    for name in ("until step", "noise scale", "95 % interval", "steps it rests on"):
        table.add_column(name, justify="right")
    for window in report.windows:
        found = window.noise_scale
        value, low, high = ("?" if end is None else f"{end:,.3g}" for end in (found.value, found.low, found.high))
        table.add_row(f"{window.until_step:,}", value, f"{low} to {high}", f"{found.steps:,}")
    return table


def prediction_table(report: NoiseReport) -> Table:
    """Return the steps that the last noise scale predicts."""
    table = Table(title="predicted, not measured", title_justify="left")
    for name in ("batch size", "steps, over the fewest", "examples, over the fewest"):
        table.add_column(name, justify="right")
    scale = report.windows[-1].noise_scale.value
    for size in PREDICTED_BATCH_SIZES if scale else ():
        steps = report.predicted_steps(size)
        assert steps is not None and scale is not None
        table.add_row(f"{size:,}", f"{steps:,.3g}", f"{steps * size / scale:,.3g}")
    return table
