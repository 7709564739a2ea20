"""A workload that is given in Python: its name, how processes find it, and how a folder knows it again."""

import contextlib
import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
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
_OTHERS = ("scalewise", "abc", "builtins")
"""Where classes come from that a user has not written."""


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
    """Say what a workload is: the code of its methods, and the values that its class and the object hold."""
    own = [one for one in reversed(type(workload).__mro__) if one.__module__.partition(".")[0] not in _OTHERS]
    members = {name: value for one in own for name, value in vars(one).items() if not name.startswith("__")}
    members.pop("defaults", None)  # settings are compared where all of them are
    functions = {name: function for name, value in members.items() if (function := _function(value)) is not None}
    values = {name: value for name, value in members.items() if name not in functions} | vars(workload)
    return {
        "code": {f"{name}()": _code(function) for name, function in functions.items()},
        "values": {name: _value(value) for name, value in values.items()},
    }


def _function(member: Any) -> Callable[..., Any] | None:
    """Return the function behind a method of any kind; None for anything else."""
    inner = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
    return inner if inspect.isfunction(inner) else None


def _code(function: Callable[..., Any]) -> str | None:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # typed into an interpreter
        return None


def _changes(there: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say what has changed; what is None on one side was not known, or not loaded yet.

    >>> before, now = {"code": {"data()": "a"}, "values": {"noise": 0.1, "cache": None}}, {"code": {"data()": "b"}}
    >>> _changes(before, {**now, "values": {"noise": 0.2, "cache": 3}})
    ['data() has other code', 'noise is 0.1 there and 0.2 now']
    """
    code = [name for name, text in now["code"].items() if _differ(there["code"].get(name, ""), text)]
    shared = [name for name, value in now["values"].items() if _differ(there["values"].get(name), value)]
    values = ({name: one["values"][name] for name in shared} for one in (there, now))
    return [*(f"{name} has other code" for name in code), *differences(*values)]


def _differ(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one != other


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
