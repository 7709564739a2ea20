"""Lists what all families have: workloads, their data sets, and where the data comes from."""

import dataclasses

from scalewise.data.sources import Source
from scalewise.errors import WorkloadError
from scalewise.workloads.family import ListedData, ListedWorkload
from scalewise.workloads.registry import FAMILIES


def data_sets() -> list[ListedData]:
    """List every data set that has a name."""
    return [data for family in FAMILIES for data in family.data_sets()]


def sources() -> dict[str, Source]:
    """Return what can be fetched, by the names of the data sets."""
    return {data.name: data.source for data in data_sets() if data.source is not None}


def workloads() -> list[ListedWorkload]:
    """List every workload; of one whose name an earlier family has, say that it is out of reach."""
    return [
        dataclasses.replace(listed, unusable="the built-in workload is used") if _taken(listed, number) else listed
        for number, family in enumerate(FAMILIES)
        for listed in family.workloads()
    ]


def _taken(listed: ListedWorkload, families_before: int) -> bool:
    try:
        return any(family.find(listed.name) for family in FAMILIES[:families_before])
    except WorkloadError:  # somebody's name, and a wrong one
        return True
