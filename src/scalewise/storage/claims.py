"""Claims on this machine: locks on files, which the system releases when their holder dies, however it dies."""

import contextlib
import dataclasses
import fcntl
import json
import os
import threading
import time
from pathlib import Path

from scalewise.storage.store import Claim, Holder

_held: set["FileClaim"] = set()
_changing = threading.RLock()
"""Held while a claim is made or released, and while the process forks."""


class FileClaim(Claim):
    """A lock on a file, as long as its descriptor is open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Forget who held it, and close the file."""
        with _changing:
            if self in _held:
                _held.discard(self)
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, 0)
                self.close()

    def close(self) -> None:
        """Close the file; the lock is lifted unless another process has it open too."""
        os.close(self._descriptor)


def claim_file(file: Path) -> FileClaim | None:
    """Lock a file unless somebody else has locked it."""
    with _changing:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(descriptor), file.stat()):
                raise BlockingIOError  # its folder was moved meanwhile: this is a lock on something else
            _write_holder(descriptor)
        except (BlockingIOError, FileNotFoundError):
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        claim = FileClaim(descriptor)
        _held.add(claim)
        return claim


def read_holder(file: Path) -> Holder | None:
    """Read who has claimed a file; None where it was released, or where that is not known."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(file.read_bytes())
        silent_seconds = max(0.0, time.time() - file.stat().st_mtime)
        return Holder(int(content["process"]), str(content["host"]), str(content["since"]), silent_seconds)
    return None


def _write_holder(descriptor: int) -> None:
    content = dataclasses.asdict(Holder.this_process())
    del content["silent_seconds"]  # the file's modification time has it
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps(content).encode())


def _forget_in_child() -> None:
    """Close what a forked child has inherited: as long as it lived, it would hold what its dead parent had claimed."""
    for claim in _held:
        claim.close()
    _held.clear()
    _changing.release()


os.register_at_fork(before=_changing.acquire, after_in_parent=_changing.release, after_in_child=_forget_in_child)
