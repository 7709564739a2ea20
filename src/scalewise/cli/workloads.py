"""`scalewise workloads`."""

from scalewise.cli.show import show, show_tables
from scalewise.figures.table import Table, texts
from scalewise.requests import WorkloadsRequest
from scalewise.workloads.catalogue import catalogue


def perform(request: WorkloadsRequest) -> None:
    """List the workloads."""
    rows = catalogue()
    show_tables(Table("", texts(*rows[0]), [list(row.values()) for row in rows]))
    show("target: val/classification_error; fetch missing data with 'scalewise data NAME'")
