"""What every store can do. `tests/test_storage.py` is the suite that each of them must pass.

A name is a path relative to the store, with `/` between its parts: `checkpoints/27/manifest.json`. Parts that begin
with a dot or end with `.lock` belong to the store itself: it keeps there what is half written and who claimed what.
"""

import datetime
import os
import socket
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scalewise.errors import FolderError


@dataclass(frozen=True)
class Holder:
    """Who has claimed something."""

    process: int
    host: str
    since: str
    silent_seconds: float = 0.0
    """How long ago the last heartbeat was."""

    @classmethod
    def this_process(cls) -> "Holder":
        """Describe this process as the holder of a new claim."""
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        return cls(os.getpid(), socket.gethostname(), now)

    @property
    def gone(self) -> bool:
        """Whether it was a process of this machine that has ended; of others nothing is known."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it runs, as another user
            pass
        return False


class Claim(ABC):
    """The right to be the only one who does something; it ends with its process at the latest."""

    @abstractmethod
    def release(self) -> None:
        """Let others have it; a forked child, which has inherited no right, does nothing by this."""


class Store(ABC):
    """A place for files. Whatever cannot be read or written raises a FolderError, a bad name a ValueError."""

    @abstractmethod
    def address(self, name: str = "") -> str:
        """Return what a message calls a file, or the store itself."""

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None when there is none of this name."""

    @abstractmethod
    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all: readers, and the next start after a crash, see the old content or the new.

        Of several writers at once, one comes last. What is written is durable when this returns.
        """

    @abstractmethod
    def write_together(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write the files of a new folder so that they appear together or not at all.

        A store that cannot do this writes them in their order, so that the last one shows that the others are there.
        """

    @abstractmethod
    def append(self, name: str, content: bytes) -> None:
        """Add to the end of a file, or begin one; durable when this returns.

        Additions of several writers follow each other whole. One that fails leaves what was there before, but one
        that is cut off by a kill or a power cut may leave its first part: readers stop at the last end of a line.
        """

    @abstractmethod
    def exists(self, name: str) -> bool:
        """Say whether there is a file or a folder of this name."""

    @abstractmethod
    def names(self, folder: str = "") -> list[str]:
        """List the files below a folder, at any depth and in order, by their whole names."""

    @abstractmethod
    def move(self, old: str, new: str) -> None:
        """Give a file or a folder another name, which must be free."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, or a folder with everything in it; nothing happens when there is none."""

    @abstractmethod
    def claim(self, name: str) -> Claim | None:
        """Be the only one for a name, which need not be a file's, or for the whole store; None when somebody else is.

        It ends when it is released, or when its holder dies, however it dies.
        """

    @abstractmethod
    def heartbeat(self, name: str) -> None:
        """Note that the holder of a claim is alive; nothing happens if there is no claim.

        A store whose claims do not end with their holder treats a claim without a recent heartbeat as free.
        """

    @abstractmethod
    def holder(self, name: str) -> Holder | None:
        """Say who has claimed a name and not released it; it may have died."""

    @contextmanager
    def claimed(self, name: str) -> Iterator[bool]:
        """Try to be the only one for the length of a `with` block."""
        claim = self.claim(name)
        try:
            yield claim is not None
        finally:
            if claim is not None:
                claim.release()


def checked(name: str) -> str:
    """Refuse a name that leads out of the store, or that belongs to the store itself.

    >>> checked("checkpoints/27")
    'checkpoints/27'
    >>> checked("../elsewhere")
    Traceback (most recent call last):
        ...
    ValueError: '../elsewhere' is not a name for a file in a store
    """
    if not name or "\0" in name or not all(map(is_visible, name.split("/"))):
        raise ValueError(f"{name!r} is not a name for a file in a store")
    return name


def is_visible(part: str) -> bool:
    """Say whether a part of a name is not the store's own."""
    return bool(part) and not part.startswith(".") and not part.endswith(".lock")


def claim_name(name: str) -> str:
    """Return where a store notes who has claimed a name; the whole store is claimed by its empty name."""
    return f"{checked(name)}.lock" if name else ".lock"


@contextmanager
def as_folder_error(path: Path | str) -> Iterator[None]:
    """Say in one sentence what cannot be written: the file, or the folder above it that is in the way."""
    try:
        yield
    except OSError as error:
        above = isinstance(error.filename, str) and Path(error.filename) in Path(path).parents
        raise cannot_write(error.filename if above else path, error.strerror or str(error)) from None


def cannot_write(what: Path | str, why: str) -> FolderError:
    """Return the error that says what cannot be written and why."""
    return FolderError(f"cannot write {what}: {why}; fix that, then run the same command again to continue")
