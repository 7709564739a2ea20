"""`scalewise workloads`."""

from scalewise.cli.command import Command
from scalewise.cli.show import show, show_table
from scalewise.errors import ExitCode
from scalewise.requests import WorkloadsRequest


def _read() -> WorkloadsRequest:
    """List every workload with its data, size, target and whether its data is here."""
    return WorkloadsRequest()


def _perform(request: WorkloadsRequest) -> ExitCode:
    from rich.table import Table

    from scalewise.workloads.catalogue import catalogue

    rows = catalogue()
    table = Table(*rows[0], box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*row.values())
    show_table(table)
    show("target: val/classification_error; fetch missing data with 'scalewise data NAME'")
    return ExitCode.COMPLETE


COMMAND = Command("workloads", _read, _perform, ("scalewise workloads",))
