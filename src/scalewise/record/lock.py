"""One writer per run folder: a lock that the system releases when its holder dies, however it dies."""

import datetime
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scalewise.errors import FolderError

# A launcher that was killed takes its workers with it within a moment; wait that moment before saying no.
_PATIENCE_SECONDS = 3.0


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock for the length of a `with` block, or say who holds it."""
    with file.open("a+") as stream:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _try_lock(stream.fileno()):
            if time.monotonic() > deadline:
                raise FolderError(
                    f"{file.parent} is being written by {_holder(file)}; wait for it or use another --out"
                )
            time.sleep(0.1)
        stream.truncate(0)
        stream.write(json.dumps(_this_process()))
        stream.flush()
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _this_process() -> dict[str, str | int]:
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    return {"process": os.getpid(), "host": socket.gethostname(), "since": now}


def _holder(file: Path) -> str:
    try:
        holder = json.loads(file.read_text())
        return f"process {holder['process']} on {holder['host']} since {holder['since']}"
    except (OSError, ValueError, KeyError):
        return "another process"
