"""`scalewise compare`."""

from scalewise.cli.show import show, show_json, show_table
from scalewise.compare.compare import compare
from scalewise.compare.table import comparison_table
from scalewise.requests import CompareRequest


def perform(request: CompareRequest) -> None:
    """Compare, and show the table."""
    comparison = compare(request)
    if request.as_json:
        show_json(comparison.content())
    else:
        show_table(comparison_table(comparison))
        show(f"picture and results in {request.out}")
