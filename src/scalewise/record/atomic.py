"""Writes files so that a reader, or a power cut, sees the old content or the new, never half of it."""

import os
from pathlib import Path


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
