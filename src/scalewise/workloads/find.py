"""Finds a workload by its name: `dataset/model` for a built-in one, `path/to/file.py:Class` for a user's own."""

from pathlib import Path

from scalewise.errors import WorkloadError
from scalewise.workloads.base import Workload
from scalewise.workloads.images import image_workload
from scalewise.workloads.own_file import own_workload


def find_workload(name: str) -> Workload:
    """Make the workload of a name."""
    path, colon, class_name = name.rpartition(":")
    if colon and path.endswith(".py"):
        return own_workload(Path(path), class_name)
    if name.endswith(".py"):
        raise WorkloadError(f"{name} names a file but no class: write '{name}:MyWorkload'")
    return image_workload(name)
