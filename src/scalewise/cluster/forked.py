"""Processes that are forked from one which has torch imported already: many of them would import it once for each."""

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing import popen_forkserver, spawn
from multiprocessing.context import ForkServerProcess
from multiprocessing.process import BaseProcess
from types import FunctionType, SimpleNamespace
from typing import Any


def forked(target: Callable[..., None], arguments: tuple[Any, ...], preloaded: Sequence[str]) -> BaseProcess:
    """Return a process that calls a function once it is started; it has some modules from the beginning."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(list(preloaded))
    return _Process(target=target, args=arguments)


def _without_main(name: str) -> dict[str, Any]:
    """Leave out the script that Python would run again in the new process.

    A script that starts a study at its top level would start it again there. What a process needs of it is handed over.
    """
    prepared = spawn.get_preparation_data(name)
    return {key: value for key, value in prepared.items() if not key.startswith("init_main")}


class _Popen(popen_forkserver.Popen):
    """Python's own, except for what `_without_main` leaves out."""

    _launch = FunctionType(
        popen_forkserver.Popen._launch.__code__,  # type: ignore[attr-defined]
        {
            **popen_forkserver.Popen._launch.__globals__,  # type: ignore[attr-defined]
            "spawn": SimpleNamespace(get_preparation_data=_without_main),
        },
    )


class _Process(ForkServerProcess):
    @staticmethod
    def _Popen(process_obj: BaseProcess) -> _Popen:  # noqa: N802 - the name by which Python looks for it
        return _Popen(process_obj)
