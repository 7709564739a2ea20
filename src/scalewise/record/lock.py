"""One writer per run folder: a lock that the system releases when its holder dies, however it dies."""

import datetime
import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import TextIO

from scalewise.errors import FolderError

# A launcher that was killed takes its workers with it within a moment; wait that moment before saying no.
_PATIENCE_SECONDS = 3.0


def acquire(file: Path) -> TextIO:
    """Take the lock, which is held until the returned stream is closed, or say who holds it."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (stream := try_to_acquire(file)) is None:
        if time.monotonic() > deadline:
            raise FolderError(f"{file.parent} is being written by {_holder(file)}; wait for it or use another --out")
        time.sleep(0.1)
    return stream


def try_to_acquire(file: Path) -> TextIO | None:
    """Take the lock unless somebody else has it."""
    stream = file.open("a+")
    if not _try_lock(stream.fileno()):
        stream.close()
        return None
    stream.truncate(0)
    stream.write(json.dumps(_this_process()))
    stream.flush()
    return stream


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
