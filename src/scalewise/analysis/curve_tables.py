"""The tables of a study: steps to target at each batch size, and the best within a budget."""

from collections.abc import Sequence

from scalewise.analysis.curve import StepsCurve
from scalewise.analysis.outcomes import StepsToTarget, effective_learning_rate
from scalewise.figures.table import Table, numbers, texts
from scalewise.record.results.analysis import BudgetBest
from scalewise.words import interval, number


def curve_table(curve: StepsCurve) -> Table:
    """Return one row per batch size, also for those that never reached the target."""
    names = ("batch size", "steps", "90 % interval", "best trial", "effective rate", "trials", "diverged")
    of = curve.name if curve.target is None else f"{curve.name}, to {curve.target}"
    rows = [[*_cells(row), curve.region(row) or ""] for row in curve.rows]
    return Table(f"Steps to target: {of}", [*numbers(*names), *texts("a larger batch")], rows)


def budget_table(budgets: Sequence[BudgetBest]) -> Table:
    """Return the best metric within each budget."""
    rows = [
        [
            f"{best.batch_size:,}",
            best.budget,
            "none measured" if best.value is None else number(best.value),
            "" if best.trial_id is None else str(best.trial_id),
        ]
        for best in budgets
    ]
    return Table("Best within a budget", numbers("batch size", "budget", "best", "trial"), rows)


def _cells(row: StepsToTarget) -> list[str]:
    rate = effective_learning_rate(row.parameters)
    reached = row.steps is not None
    return [
        f"{row.batch_size:,}",
        number(row.steps) if reached else f"not in {number(row.tried_steps)}",
        interval(number(row.low), number(row.high)) if reached else "",
        "" if row.trial_id is None else str(row.trial_id),
        number(rate),
        f"{row.trials:,}",
        f"{row.infeasible:,}",
    ]
