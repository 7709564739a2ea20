"""The table of a comparison: what each recipe came to."""

from collections.abc import Sequence

from scalewise.compare.results import Quality, Row, Summary, against_baseline
from scalewise.figures.table import Table, numbers, texts


def recipe_table(rows: Sequence[Row], quality: Quality) -> Table:
    """Make one row per condition."""
    columns = numbers("batch", "final", "best", "against baseline", "diverged", "examples/s")
    return Table(f"Recipes: {quality.label}", [*texts("recipe"), *columns], [_cells(row, rows) for row in rows])


def _cells(row: Row, rows: Sequence[Row]) -> list[str]:
    difference = against_baseline(row, rows)
    return [
        row.condition.name,
        f"{row.condition.global_batch:,}",
        _summary(row.final),
        _summary(row.best),
        "" if difference is None else f"{difference:+.2f}",
        f"{row.diverged} of {row.trials}" if row.diverged else "",
        "" if row.examples_per_second is None else f"{row.examples_per_second:,.0f}",
    ]


def _summary(summary: Summary | None) -> str:
    return "-" if summary is None else str(summary)
