"""The table of a comparison, for the terminal."""

from rich.table import Table

from scalewise.compare.compare import Comparison
from scalewise.compare.results import Row, Summary, against_baseline


def comparison_table(comparison: Comparison) -> Table:
    """Make a table of one row per condition."""
    table = Table(box=None, header_style="bold", pad_edge=False, title=comparison.quality.label, title_justify="left")
    for name in ("recipe", "batch", "final", "best", "against baseline", "diverged", "examples/s"):
        table.add_column(name, justify="left" if name == "recipe" else "right")
    for row in comparison.rows:
        table.add_row(*_cells(row, comparison.rows))
    return table


def _cells(row: Row, rows: list[Row]) -> list[str]:
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
    if summary is None:
        return "-"
    if summary.lowest == summary.highest:
        return f"{summary.mean:.4g}"
    return f"{summary.mean:.4g} ({summary.lowest:.4g} to {summary.highest:.4g})"
