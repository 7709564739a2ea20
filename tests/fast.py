"""Finds the tests that start processes, so that `make test-fast` can leave them out without anybody keeping a list."""

import multiprocessing
import subprocess
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

import browser
import processes
import scalewise

_STARTERS: tuple[object, ...] = (
    *(processes.start, processes.group, processes.in_own_process),
    *(subprocess, multiprocessing, browser),
)
_STARTED_BY_PYTHON = ("advise", "bench", "study")
"""Functions of the Python API that start processes whatever they are asked; others do so with `workers`."""


def starts_processes(item: pytest.Item) -> bool:
    """Say whether a test, or a fixture or function that it uses, can start a process."""
    assert isinstance(item, pytest.Function)
    fixtures = [definition.func for definitions in _fixtures(item).values() for definition in definitions]
    return any(one in _STARTERS for function in (item.function, *fixtures) for one in _reached(function, set()))


def _fixtures(item: pytest.Function) -> dict[str, Any]:
    found: dict[str, Any] = item._fixtureinfo.name2fixturedefs
    return {name: definitions for name, definitions in found.items() if "pytest" not in definitions[0].func.__module__}


def _reached(function: Callable[..., Any], seen: set[int]) -> Iterator[object]:
    """Go through everything that a function names, and through the tests' own functions among it."""
    function = getattr(function, "__wrapped__", function)
    if id(function) in seen or not isinstance(function, FunctionType):
        return
    seen.add(id(function))
    for name in _names(function.__code__):
        named = function.__globals__.get(name)
        if named is scalewise and _asks_for_processes(function.__code__):
            yield processes.start
        if isinstance(named, FunctionType | ModuleType | BaseContext):
            yield multiprocessing if isinstance(named, BaseContext) else named
        if isinstance(named, FunctionType) and not named.__module__.startswith("scalewise"):
            yield from _reached(named, seen)


def _asks_for_processes(code: CodeType) -> bool:
    keywords = {word for constant in code.co_consts if isinstance(constant, tuple) for word in constant}
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    called = any(name in code.co_names for name in _STARTED_BY_PYTHON)
    return called or "workers" in keywords or any(map(_asks_for_processes, inner))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
