"""The table of an analysis, for a terminal."""

from rich.table import Table

from scalewise.analysis.curve import Curve
from scalewise.analysis.findings import BudgetBest
from scalewise.analysis.outcomes import StepsToTarget, effective_learning_rate
from scalewise.analysis.speed_report import SpeedReport


def curve_table(curve: Curve) -> Table:
    """Return one row per batch size, also for those that never reached the target."""
    table = Table(
        title=curve.name if curve.target is None else f"{curve.name}, to {curve.target}", title_justify="left"
    )
    for name in ("batch size", "steps", "90 % interval", "best trial", "effective rate", "trials", "diverged"):
        table.add_column(name, justify="right")
    table.add_column("a larger batch")
    for row in curve.rows:
        table.add_row(*_cells(row), curve.region(row) or "")
    return table


def _cells(row: StepsToTarget) -> list[str]:
    rate = effective_learning_rate(row.parameters)
    if row.steps is None:
        steps, interval = f"not in {row.tried_steps:,.6g}", ""
    else:
        steps = f"{row.steps:,.6g}"
        interval = f"{row.low:,.6g} to {'?' if row.high is None else f'{row.high:,.6g}'}"
    return [
        f"{row.batch_size:,}",
        steps,
        interval,
        "" if row.trial_id is None else str(row.trial_id),
        "" if rate is None else f"{rate:.3g}",
        str(row.trials),
        str(row.infeasible),
    ]


def fit_table(report: SpeedReport) -> Table:
    """Return what the fit of each cluster found."""
    table = Table("cluster", "part of a step", title="the fit", title_justify="left")
    for name in ("value", "90 % interval"):
        table.add_column(name, justify="right")
    for cluster, model in report.models.items():
        for name, (value, low, high) in model.parameters().items():
            table.add_row(cluster, name.replace("_", " "), f"{value:.3g}", f"{low:.3g} to {high:.3g}")
    return table


def speed_table(report: SpeedReport) -> Table:
    """Return the predicted times, beside the measured ones where some were kept from the fit."""
    table = Table(title="predicted seconds per step", title_justify="left")
    table.add_column("series")
    compared = report.errors() is not None
    names = ["workers", "global batch", "s/step", "90 % interval"]
    for name in [*names, *(["measured", "error", "error at same speed"] if compared else [])]:
        table.add_column(name, justify="right")
    for one in report.predictions:
        time = one.prediction
        cells = [f"{one.point.workers:,}", f"{one.point.global_batch:,}", f"{time.step_seconds:.4g}"]
        cells.append(f"{time.low:.4g} to {time.high:.4g}")
        if compared and one.measured is not None:
            errors = (one.error(time.step_seconds), one.error(one.same_speed))
            cells += [f"{one.measured:.4g}", *(f"{error or 0.0:.1%}" for error in errors)]
        table.add_row(one.series.name, *cells)
    return table


def budget_table(budgets: list[BudgetBest]) -> Table:
    """Return the best metric within each budget."""
    table = Table(title="best within a budget", title_justify="left")
    for name in ("batch size", "budget", "best", "trial"):
        table.add_column(name, justify="right")
    for best in budgets:
        value = "none measured" if best.value is None else f"{best.value:.4g}"
        table.add_row(f"{best.batch_size:,}", best.budget, value, "" if best.trial_id is None else str(best.trial_id))
    return table
