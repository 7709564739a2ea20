"""`sw.workloads`: what can be trained by name."""

from typing import TYPE_CHECKING

from scalewise.api.tables import frame

if TYPE_CHECKING:
    import polars as pl


def workloads() -> "pl.DataFrame":
    """List every workload that has a name, with its data, its size, its target and whether its data is here.

    >>> import scalewise as sw
    >>> "digits/simple_cnn_base" in sw.workloads()["workload"]
    True
    """
    from scalewise.workloads.catalogue import catalogue  # and torch

    return frame(catalogue())
