"""`scalewise compare`."""

from scalewise.cli.show import show, show_json, show_tables
from scalewise.compare.compare import compare
from scalewise.compare.recipe_table import recipe_table
from scalewise.requests import CompareRequest


def perform(request: CompareRequest) -> None:
    """Compare, and show the table."""
    comparison = compare(request)
    if request.as_json:
        show_json(comparison.result.plain())
    else:
        show_tables(recipe_table(comparison.result.rows, comparison.quality))
        show(f"picture and results in {request.out}")
