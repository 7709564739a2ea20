"""`scalewise workloads`."""

from rich.table import Table

from scalewise.cli.show import show, show_table
from scalewise.requests import WorkloadsRequest
from scalewise.workloads.catalogue import catalogue


def perform(request: WorkloadsRequest) -> None:
    """List the workloads."""
    rows = catalogue()
    table = Table(*rows[0], box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*row.values())
    show_table(table)
    show("target: val/classification_error; fetch missing data with 'scalewise data NAME'")
