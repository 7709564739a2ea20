"""`scalewise workloads`."""

from collections.abc import Sequence

from scalewise.cli.show import show, show_tables
from scalewise.figures.table import Table, numbers, texts
from scalewise.requests import WorkloadsRequest
from scalewise.words import data_size, number
from scalewise.workloads.catalogue import data_sets, workloads
from scalewise.workloads.family import ListedData, ListedWorkload

_SPLITS = ("train", "val", "test")


def perform(request: WorkloadsRequest) -> None:
    """List the workloads and what they are trained on."""
    data, listed = data_sets(), workloads()
    tables = [_data_table(data), _workload_table([one for one in listed if one.package is None])]
    if others := [one for one in listed if one.package is not None]:
        tables.append(_package_table(others))
    show_tables(*tables)
    if any(one.source is not None and not one.source.here() for one in data):
        show("\nfetch missing data with 'scalewise data NAME'")


def _data_table(data: Sequence[ListedData]) -> Table:
    columns = [*texts("data set"), *numbers(*_SPLITS, "download"), *texts("data")]
    return Table("Data sets, and how many examples they have", columns, [_data_row(one) for one in data])


def _data_row(data: ListedData) -> list[str]:
    counts = [number(data.examples.get(split)) for split in _SPLITS]
    if data.source is None:
        return [data.name, *counts, "", "here"]
    return [data.name, *counts, data_size(data.source.download_bytes), "here" if data.source.here() else "missing"]


def _workload_table(listed: Sequence[ListedWorkload]) -> Table:
    return Table("Workloads", texts("workload", "target"), [[one.name, one.target or ""] for one in listed])


def _package_table(listed: Sequence[ListedWorkload]) -> Table:
    rows = [[one.name, one.package or "", one.unusable or ""] for one in listed]
    return Table("Workloads of installed packages", texts("workload", "package", ""), rows)
