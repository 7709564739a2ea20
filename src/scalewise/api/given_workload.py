"""A workload that is given in Python: its name, how processes find it, and how a folder knows it again."""

import contextlib
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from scalewise.cluster.handover import handing_over
from scalewise.config import differences
from scalewise.errors import FolderError, WorkloadError
from scalewise.requests import IN_PYTHON
from scalewise.storage import LocalStore

if TYPE_CHECKING:
    from scalewise.workloads.base import Workload

AnyWorkload: TypeAlias = "Workload | str | PathLike[str]"
"""An object, or a name as the command line has it."""

_FILE = "python_workload.json"


def name_of(workload: AnyWorkload) -> str:
    """Return the name under which a workload is recorded, such as `python:Spirals`."""
    if isinstance(workload, str | PathLike):
        return fspath(workload)
    from scalewise.workloads.base import Workload  # and torch

    if isinstance(workload, Workload):
        return f"{IN_PYTHON}{type(workload).__name__}"
    if inspect.isclass(workload) and issubclass(workload, Workload):
        raise WorkloadError(f"{workload.__name__} is a class: give an object of it, {workload.__name__}()")
    raise WorkloadError(
        "a workload is a name such as 'digits/fc_64', or an object of a class that extends scalewise.Workload, "
        f"not {type(workload).__name__}"
    )


@contextlib.contextmanager
def named(workload: AnyWorkload) -> Iterator[str]:
    """Return a name by which a workload is found in a `with` block, here and in processes that are started there."""
    name = name_of(workload)
    if isinstance(workload, str | PathLike):
        yield name
        return
    with handing_over(name, workload):
        yield name


@contextlib.contextmanager
def known_in(folder: Path, workload: AnyWorkload, anew: bool = False) -> Iterator[None]:
    """Refuse a folder of results with another workload of the same name, and note in it what this one is.

    In a notebook a class is changed and run again: the results of the old one must not be taken for its own. `anew`
    says that whatever is there will be moved aside.
    """
    if isinstance(workload, str | PathLike):
        yield
        return
    store, now = LocalStore(folder), _description(workload)
    written = None if anew else store.read(_FILE)
    if written is not None and (found := _changes(json.loads(written), now)):
        raise FolderError(
            f"{folder} has results of another {type(workload).__name__}: {'; '.join(found)}; "
            "use another out, or move the folder aside"
        )
    try:
        yield
    finally:
        if written is None and folder.is_dir():
            store.write(_FILE, json.dumps(now, indent=2).encode())


def _description(workload: "Workload") -> dict[str, Any]:
    """Say what a workload is: the code of its class, and the values that the object holds."""
    try:
        code = inspect.getsource(type(workload))
    except (OSError, TypeError):  # typed into an interpreter
        code = None
    return {"code": code, "values": {name: _value(value) for name, value in vars(workload).items()}}


def _changes(there: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say what has changed; what is None on one side was not known, or not loaded yet.

    >>> _changes({"code": "a", "values": {"noise": 0.1, "cache": None}}, {"code": "a", "values": {"noise": 0.2}})
    ['noise is 0.1 there and 0.2 now']
    """
    other_code = None not in (there["code"], now["code"]) and there["code"] != now["code"]
    shared = [name for name, value in now["values"].items() if None not in (value, there["values"].get(name))]
    values = ({name: one["values"][name] for name in shared} for one in (there, now))
    return [*(["its class has other code"] if other_code else []), *differences(*values)]


def _value(value: Any) -> Any:
    """Return something that is equal for equal values, also in another process.

    >>> _value((1, "a")), _value({"b": None}), _value(object())
    ([1, 'a'], {'b': None}, 'object')
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_value(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _value(one) for name, one in value.items()}
    if hasattr(value, "untyped_storage"):  # a tensor
        value = value.detach().cpu().double().numpy()
    if hasattr(value, "tobytes"):  # an array
        return hashlib.sha256(value.tobytes()).hexdigest()[:16]
    return str(value) if isinstance(value, Path) else type(value).__name__
