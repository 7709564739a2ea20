"""Files of this machine, or of a disk that several machines share."""

import contextlib
import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scalewise.errors import FolderError
from scalewise.storage.claims import FileClaim, claim_file, read_holder
from scalewise.storage.partials import partial_file, partial_folder, remove_folder
from scalewise.storage.store import Holder, Store, as_folder_error, cannot_write, checked, claim_name, is_visible


def write_result(file: Path, content: bytes) -> None:
    """Write a result file, in a folder that need not exist yet."""
    LocalStore(file.parent).write(file.name, content)


@dataclass(frozen=True)
class LocalStore(Store):
    """A folder."""

    root: Path

    def address(self, name: str = "") -> str:
        """Return the path."""
        return str(self._path(name) if name else self.root)

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None when there is none."""
        try:
            return self._path(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise FolderError(f"cannot read {self._path(name)}: {error.strerror}") from None

    def write(self, name: str, content: bytes) -> None:
        """Write beside the file, then rename over it."""
        file = self._path(name)
        with as_folder_error(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            with partial_file(file.parent) as (partial, descriptor):
                _write_durably(descriptor, content)
                partial.replace(file)
            _sync_folder(file.parent)

    def write_together(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Write the files beside, then rename the folder that they are in.

        Beside means in the root: below it a layout may take every folder for one of its own.
        """
        target = self._path(folder)
        with as_folder_error(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with partial_folder(self.root) as partial:
                for name, content in files.items():
                    _write_new_file(partial / checked(name), content)
                _sync_folder(partial)
                partial.rename(target)
            _sync_folder(target.parent)

    def append(self, name: str, content: bytes) -> None:
        """Add to a file whose writers wait for each other."""
        file = self._path(name)
        with as_folder_error(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            new = not file.exists()
            with file.open("ab", buffering=0) as stream:
                fcntl.flock(stream, fcntl.LOCK_EX)
                try:
                    _add(stream.fileno(), content)
                finally:
                    fcntl.flock(stream, fcntl.LOCK_UN)  # closing would not do while a child forked just now has it too
            if new:
                _sync_folder(file.parent)

    def exists(self, name: str) -> bool:
        """Say whether there is a file or a folder of this name."""
        return self._path(name).exists()

    def names(self, folder: str = "") -> list[str]:
        """Walk through the folders."""
        found = []
        for where, below, files in os.walk(self._path(folder) if folder else self.root):
            below[:] = filter(is_visible, below)
            found += [Path(where, file).relative_to(self.root).as_posix() for file in filter(is_visible, files)]
        return sorted(found)

    def move(self, old: str, new: str) -> None:
        """Rename a file or a folder."""
        if self.exists(new):
            raise cannot_write(self._path(new), "it is there already")
        target = self._path(new)
        with as_folder_error(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            self._path(old).rename(target)

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with everything in it."""
        path = self._path(name)
        with as_folder_error(path), contextlib.suppress(FileNotFoundError):
            if path.is_dir() and not path.is_symlink():
                remove_folder(path)
            else:
                path.unlink()

    def claim(self, name: str) -> FileClaim | None:
        """Lock a file that exists only for this."""
        file = self.root / claim_name(name)
        with as_folder_error(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            return claim_file(file)

    def heartbeat(self, name: str) -> None:
        """Touch the file of the claim."""
        with contextlib.suppress(OSError):  # the claim itself is a lock, and does not depend on this
            os.utime(self.root / claim_name(name))

    def holder(self, name: str) -> Holder | None:
        """Read who has claimed a name, and when its file was touched."""
        return read_holder(self.root / claim_name(name))

    def _path(self, name: str) -> Path:
        return self.root / checked(name)


def _write_new_file(file: Path, content: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        _write_durably(descriptor, content)
    finally:
        os.close(descriptor)


def _write_durably(descriptor: int, content: bytes) -> None:
    """Write and wait until it is on the disk."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def _add(descriptor: int, content: bytes) -> None:
    """Write at the end of a file; what was there stays alone where that fails."""
    end = os.fstat(descriptor).st_size
    try:
        _write_durably(descriptor, content)
    except OSError:
        os.ftruncate(descriptor, end)
        raise


def _sync_folder(folder: Path) -> None:
    """Wait until renames in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
