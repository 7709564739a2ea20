"""Loads a workload's data as splits."""

from scalewise.data.given import as_splits
from scalewise.data.splits import Examples
from scalewise.data.stored import Reading
from scalewise.errors import UserError, WorkloadError
from scalewise.workloads.base import Workload


def load_splits(workload: Workload, readers: int = 0) -> dict[str, Examples]:
    """Call `data()` and check what it gives; `readers` processes will read ahead what is not in memory."""
    kind = type(workload)
    transforms = kind.transform_example is not Workload.transform_example
    reading = Reading(workload.collate, workload.transform_example if transforms else None)
    try:
        content = workload.data()
    except UserError:
        raise
    except Exception as error:
        raise WorkloadError(f"{kind.__name__}.data() fails: {type(error).__name__}: {error}") from error
    return as_splits(content, readers, reading, collates=kind.collate is not Workload.collate)
