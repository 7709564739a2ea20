"""`sw.workloads`: what can be trained by name."""

from typing import TYPE_CHECKING

from scalewise.api.tables import frame

if TYPE_CHECKING:
    import polars as pl


def workloads() -> "pl.DataFrame":
    """List every workload that has a name, with its target, its training examples and whether its data is here.

    >>> import scalewise as sw
    >>> "digits/simple_cnn_base" in sw.workloads()["workload"]
    True
    """
    from scalewise.workloads import catalogue  # and torch

    data = {one.name: one for one in catalogue.data_sets()}
    rows = []
    for one in catalogue.workloads():
        known = data.get(one.name.rpartition("/")[0])
        rows.append(
            {
                "workload": one.name,
                "target": one.target,
                "train_examples": None if known is None else known.examples.get("train"),
                "data_here": None if known is None else known.source is None or known.source.here(),
                "package": one.package,
                "unusable": one.unusable,
            }
        )
    return frame(rows)
