"""Hands a Python object to the processes that this one starts: by a file in a folder that only their user can enter.

Whatever goes over a socket is never unpickled. A file that only this user can write, in a folder that only the children
are told of, is as safe as the program itself.
"""

import contextlib
import functools
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from scalewise.errors import WorkloadError

_FOLDER = "SCALEWISE_HANDOVER"
"""The environment variable that names the folder; only children have it."""
_OBJECT, _FACTS = "object.pickle", "facts.json"


class _Handover:
    """An object under a name; it is written when the first process is started, and not before."""

    def __init__(self, name: str, value: object, stack: contextlib.ExitStack) -> None:
        self.name, self.value, self._stack = name, value, stack
        self._folder: Path | None = None

    def folder(self) -> Path:
        """Return where the object lies."""
        if self._folder is None:
            content = _pickled(self.name, self.value)
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="scalewise-handover-")))
            (folder / _OBJECT).write_bytes(content)
            (folder / _FACTS).write_text(json.dumps({"name": self.name, "path": _import_path()}))
            self._folder = folder
        return self._folder


_present: ContextVar[_Handover | None] = ContextVar("scalewise_handover", default=None)
"""Of this thread, so that two of them can train different workloads of the same name."""


@contextlib.contextmanager
def handing_over(name: str, value: object) -> Iterator[None]:
    """Let `handed` find an object by its name, here and in all processes that are started in a `with` block."""
    with contextlib.ExitStack() as stack:
        token = _present.set(_Handover(name, value, stack))
        try:
            yield
        finally:
            _present.reset(token)


def environment_of_children() -> dict[str, str]:
    """Return what a process must find in its environment to be handed what this one has to hand over."""
    present = _present.get()
    return {} if present is None else {_FOLDER: str(present.folder())}


def handed(name: str) -> Any:
    """Return the object of a name that this process has, or was handed; None where there is none."""
    present = _present.get()
    if present is not None and present.name == name:
        return present.value
    folder = os.environ.get(_FOLDER)
    return None if folder is None else _read(Path(folder), name)


@functools.lru_cache(maxsize=1)
def _read(folder: Path, name: str) -> Any:
    if not _private(folder):
        return None
    facts = json.loads((folder / _FACTS).read_text())
    if facts["name"] != name:
        return None
    import cloudpickle  # which only who is handed something needs

    sys.path += [entry for entry in facts["path"] if entry not in sys.path]
    try:
        return cloudpickle.loads((folder / _OBJECT).read_bytes())
    except Exception as error:
        raise WorkloadError(
            f"{name} cannot be made in another process: {type(error).__name__}: {_one_line(error)}"
        ) from error


def _private(folder: Path) -> bool:
    """Say whether nobody but this user can have put anything into a folder."""
    try:
        found = folder.stat()
    except OSError:
        return False
    own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return own and not stat.S_IMODE(found.st_mode) & (stat.S_IRWXG | stat.S_IRWXO)


def _pickled(name: str, value: object) -> bytes:
    import cloudpickle

    try:
        content: bytes = cloudpickle.dumps(value)
    except Exception as error:
        raise WorkloadError(
            f"{name} cannot be handed to other processes: {_one_line(error)}; "
            "make such things inside data() or model() instead of keeping them in the object"
        ) from error
    return content


def _import_path() -> list[str]:
    """Return where this process imports from; an empty entry is the folder that it is in."""
    return [entry or str(Path.cwd()) for entry in sys.path]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
