"""Makes a workload of what a user's file or package offers, or says in one sentence why it is none."""

import inspect
from collections.abc import Callable
from typing import Any

from scalewise.errors import WorkloadError
from scalewise.words import printable
from scalewise.workloads.base import Workload


def is_workload_class(found: object) -> bool:
    """Say whether something is a class of workloads."""
    return inspect.isclass(found) and issubclass(found, Workload)


def make(maker: Callable[[], Any], where: str) -> Workload:
    """Call a class of workloads, or a function that returns one; `where` is what the user knows it by."""
    if missing := sorted(getattr(maker, "__abstractmethods__", ())):
        raise WorkloadError(f"{where} does not define {' and '.join(f'{name}()' for name in missing)}")
    if needed := _needed_arguments(maker):
        raise WorkloadError(
            f"{where} needs {' and '.join(needed)}, but a workload is made without arguments: give them defaults"
        )
    try:
        made = maker()
    except (Exception, SystemExit) as error:
        raise WorkloadError(f"{where} cannot be made: {described(error)}") from error
    if not isinstance(made, Workload):
        raise WorkloadError(f"{where} gives {type(made).__name__}, not a scalewise.workloads.Workload")
    return made


def described(error: BaseException) -> str:
    """Write an error of somebody else's code in one line."""
    return f"{type(error).__name__}: {printable(str(error))}"


def _needed_arguments(maker: Callable[[], Any]) -> list[str]:
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):  # of what is written in C
        return []
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in parameters if one.default is one.empty and one.kind not in optional]
