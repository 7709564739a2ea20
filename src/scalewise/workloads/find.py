"""Finds a workload by its name: `dataset/model` for a built-in one, `path/to/file.py:Class` for a user's own.

`python:Class` is one that was given in Python.
"""

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType

from scalewise.cluster.handover import handed
from scalewise.errors import WorkloadError, nearest
from scalewise.requests import given_in_python
from scalewise.workloads.base import Workload
from scalewise.workloads.images import image_workload


def find_workload(name: str) -> Workload:
    """Make the workload of a name."""
    path, colon, class_name = name.rpartition(":")
    if given_in_python(name):
        return _given_workload(name, class_name)
    if colon and path.endswith(".py"):
        return _own_workload(Path(path), class_name)
    if name.endswith(".py"):
        raise WorkloadError(f"{name} names a file but no class: write '{name}:MyWorkload'")
    return image_workload(name)


def _given_workload(name: str, class_name: str) -> Workload:
    """Return a workload that was given in Python, in this process or in the one that started it."""
    workload: Workload | None = handed(name)
    if workload is None:
        raise WorkloadError(f"{name} was given in Python: give it again there, as in scalewise.train({class_name}())")
    return workload


def _own_workload(file: Path, class_name: str) -> Workload:
    module = _import_file(file)
    found = getattr(module, class_name, None)
    if found is None:
        classes = [name for name, value in vars(module).items() if _is_workload(value, module)]
        hint = nearest(class_name, classes) or f"; there are {', '.join(classes) or 'none'}"
        raise WorkloadError(f"{file} has no workload {class_name!r}{hint}")
    if not _is_workload(found, module):
        raise WorkloadError(f"{file}:{class_name} is not a class that extends scalewise.workloads.Workload")
    try:
        workload: Workload = found()
    except Exception as error:
        raise WorkloadError(f"{file}:{class_name} cannot be made: {type(error).__name__}: {error}") from error
    return workload


def _is_workload(value: object, module: ModuleType) -> bool:
    return inspect.isclass(value) and issubclass(value, Workload) and value.__module__ == module.__name__


def _import_file(file: Path) -> ModuleType:
    """Import a user's file under a name of its own, with its folder on the path for its neighbours."""
    if not file.is_file():
        raise WorkloadError(f"the workload file {file} does not exist")
    name = f"scalewise_workload_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        where = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        place = f"{file}:{where[-1]}" if where else str(file)
        raise WorkloadError(f"{place} does not import: {type(error).__name__}: {error}") from error
    return module
