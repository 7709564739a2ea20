"""The table of a comparison: what each recipe came to."""

from collections.abc import Sequence

from scalewise.compare.results import Quality
from scalewise.figures.table import Table, numbers, texts
from scalewise.record.results.compare import ComparedRecipe, Summary


def recipe_table(rows: Sequence[ComparedRecipe], quality: Quality) -> Table:
    """Make one row per condition."""
    columns = numbers("batch", "final", "best", "against baseline", "diverged", "examples/s")
    return Table(f"Recipes: {quality.label}", [*texts("recipe"), *columns], [_cells(row) for row in rows])


def _cells(row: ComparedRecipe) -> list[str]:
    difference = row.against_baseline
    return [
        row.name,
        f"{row.global_batch:,}",
        _summary(row.final),
        _summary(row.best),
        "" if difference is None else f"{difference:+.2f}",
        f"{row.diverged} of {row.trials}" if row.diverged else "",
        "" if row.examples_per_second is None else f"{row.examples_per_second:,.0f}",
    ]


def _summary(summary: Summary | None) -> str:
    return "-" if summary is None else str(summary)
