"""`scalewise workloads`."""

from scalewise.cli.command import Command
from scalewise.cli.show import show, show_tables
from scalewise.errors import ExitCode
from scalewise.requests import WorkloadsRequest


def _read() -> WorkloadsRequest:
    """List every workload with its data, size, target and whether its data is here."""
    return WorkloadsRequest()


def _perform(request: WorkloadsRequest) -> ExitCode:
    from scalewise.figures.table import Table, texts
    from scalewise.workloads.catalogue import catalogue

    rows = catalogue()
    show_tables(Table("", texts(*rows[0]), [list(row.values()) for row in rows]))
    show("target: val/classification_error; fetch missing data with 'scalewise data NAME'")
    return ExitCode.COMPLETE


COMMAND = Command("workloads", _read, _perform, ("scalewise workloads",))
