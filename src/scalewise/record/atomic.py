"""Writes files so that a reader, or a power cut, sees the old content or the new, never half of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scalewise.errors import FolderError


def write_result(file: Path, content: bytes) -> None:
    """Write a file that a user waits for, in a folder that may not be there yet."""
    with told(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content)


def write_atomically(file: Path, content: bytes) -> None:
    """Write beside the file, then rename over it."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        write_durably(partial, content)
        partial.replace(file)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def write_durably(file: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk."""
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until renames in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say in one sentence that a folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise FolderError(
            f"cannot write {error.filename or path}: {error.strerror}; mend that, and the same command goes on"
        ) from None
