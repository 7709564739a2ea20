"""Files are written under a unique temporary name and renamed when they are complete.

A writer holds a lock on its temporary file. So a later writer recognises what a killed one has left, and removes it.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

_ENDING = ".partial"


@contextlib.contextmanager
def partial_file(folder: Path) -> Iterator[tuple[Path, int]]:
    """Make a file and open it for writing; unless it was renamed in the `with` block, it is gone afterwards."""
    path, descriptor = _locked(folder, _make_file)
    try:
        yield path, descriptor
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        _unlock(descriptor)


@contextlib.contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Make a folder; unless it was renamed in the `with` block, it is gone afterwards."""
    path, descriptor = _locked(folder, _make_folder)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _unlock(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove a folder: in one moment for those who look, then file by file."""
    aside = _new_path(folder.parent)
    folder.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)


def _new_path(folder: Path) -> Path:
    return folder / f".{os.getpid()}-{secrets.token_hex(4)}{_ENDING}"


def _locked(folder: Path, make: Callable[[Path], int | None]) -> tuple[Path, int]:
    """Make a temporary file and lock it; try again if somebody removed it before it was locked."""
    _remove_abandoned(folder)
    while True:
        path = _new_path(folder)
        descriptor = make(path)
        if descriptor is None:
            continue
        with contextlib.suppress(OSError):  # a file system without locks: there nobody can tell what is abandoned
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():
            return path, descriptor
        os.close(descriptor)


def _unlock(descriptor: int) -> None:
    """Lift the lock and close; closing alone would not do while a child forked just now has it open too."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _make_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)


def _make_folder(path: Path) -> int | None:
    path.mkdir()
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, os.O_RDONLY)
    return None


def _remove_abandoned(folder: Path) -> None:
    """Remove what killed writers have left; looking costs little beside waiting for the disk."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name.startswith(".") and entry.name.endswith(_ENDING)]
    for entry in found:
        with contextlib.suppress(OSError):  # somebody is writing it, or has removed it
            _remove_if_unlocked(Path(entry.path), entry.is_dir(follow_symlinks=False))


def _remove_if_unlocked(path: Path, is_folder: bool) -> None:
    descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_folder:
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(descriptor)
