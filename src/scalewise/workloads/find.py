"""Finds a workload by its name: `data_set/model`, or `path/to/file.py:Class` for one in a user's own file.

`python:Class` is a workload that was given in Python.
"""

from pathlib import Path

from scalewise.cluster.handover import handed
from scalewise.errors import WorkloadError, nearest
from scalewise.requests import given_in_python
from scalewise.workloads.base import Workload
from scalewise.workloads.own_file import own_workload
from scalewise.workloads.registry import FAMILIES


def find_workload(name: str) -> Workload:
    """Make the workload of a name."""
    path, colon, class_name = name.rpartition(":")
    if given_in_python(name):
        return _given_workload(name, class_name)
    if colon and path.endswith(".py"):
        return own_workload(Path(path), class_name)
    if name.endswith(".py"):
        raise WorkloadError(f"{name} names a file but no class: write '{name}:MyWorkload'")
    for family in FAMILIES:
        if (workload := family.find(name)) is not None:
            return workload
    raise WorkloadError(f"unknown workload {name!r}: {_what_is_wrong(name)}")


def _given_workload(name: str, class_name: str) -> Workload:
    """Return a workload that was given in Python, in this process or in the one that started it."""
    workload: Workload | None = handed(name)
    if workload is None:
        raise WorkloadError(f"{name} was given in Python: give it again there, as in scalewise.train({class_name}())")
    return workload


def _what_is_wrong(name: str) -> str:
    """Say which part of a name is unknown, and what may have been meant."""
    path, colon, class_name = name.rpartition(":")
    if colon and Path(path).is_dir():
        return f"{path} is a folder, not a file; write '{path}/FILE.py:{class_name}'"
    if colon and Path(f"{path}.py").is_file():
        return f"there is no such data set; did you mean '{path}.py:{class_name}'?"
    known = [listed.name.rpartition("/") for family in FAMILIES for listed in family.workloads()]
    data_name, _, model_name = name.rpartition("/")
    models = [model for data, _, model in known if data == data_name]
    if data_name and models:
        return f"no model is named {model_name!r}{_hint(model_name, models)}"
    data_sets = list(dict.fromkeys(data for data, _, _ in known if data))
    return f"no data set is named {data_name or model_name!r}{_hint(data_name or model_name, data_sets)}"


def _hint(word: str, known: list[str]) -> str:
    return nearest(word, known) or f"; there are {', '.join(known)}"
