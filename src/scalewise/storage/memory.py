"""Files that live as long as an object does: for tests and notebooks, used by any number of threads."""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace

from scalewise.storage.store import Claim, Holder, Store, cannot_write, checked, claim_name


class MemoryStore(Store):
    """A dictionary of files."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._files: dict[str, bytes] = {}
        self._claims: dict[str, _MemoryClaim] = {}

    def address(self, name: str = "") -> str:
        """Return the name with a prefix that no path has."""
        return f"memory:{checked(name) if name else ''}"

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None when there is none."""
        with self._lock:
            return self._files.get(checked(name))

    def write(self, name: str, content: bytes) -> None:
        """Replace a file."""
        with self._lock:
            self._check_free_of_folders(name)
            self._files[name] = bytes(content)

    def write_together(self, folder: str, files: Mapping[str, bytes]) -> None:
        """Add all files at once."""
        with self._lock:
            self._check_free(folder)
            self._check_free_of_folders(folder)
            self._files |= {f"{folder}/{checked(name)}": bytes(content) for name, content in files.items()}

    def append(self, name: str, content: bytes) -> None:
        """Add to the end of a file."""
        with self._lock:
            self.write(name, self._files.get(name, b"") + content)

    def exists(self, name: str) -> bool:
        """Say whether there is a file or a folder of this name."""
        return self.read(name) is not None or bool(self.names(name))

    def names(self, folder: str = "") -> list[str]:
        """List the files below a folder."""
        start = f"{checked(folder)}/" if folder else ""
        with self._lock:
            return sorted(name for name in self._files if name.startswith(start))

    def move(self, old: str, new: str) -> None:
        """Change the names of a file, or of everything in a folder."""
        with self._lock:
            self._check_free(new)
            moved = self._at_or_below(old)
            if not moved:
                raise cannot_write(self.address(new), f"there is no {self.address(old)}")
            for name in moved:
                self._files[new + name.removeprefix(old)] = self._files.pop(name)

    def remove(self, name: str) -> None:
        """Forget a file, or everything in a folder."""
        with self._lock:
            for one in self._at_or_below(name):
                del self._files[one]

    def claim(self, name: str) -> "_MemoryClaim | None":
        """Note who has claimed a name."""
        with self._lock:
            key = claim_name(name)
            if key in self._claims:
                return None
            self._claims[key] = _MemoryClaim(self, key)
            return self._claims[key]

    def release(self, claim: "_MemoryClaim") -> None:
        """Let others claim a name, if it is still this claim that has it."""
        with self._lock:
            if self._claims.get(claim.key) is claim:
                del self._claims[claim.key]

    def heartbeat(self, name: str) -> None:
        """Note the time."""
        with self._lock:
            if (claim := self._claims.get(claim_name(name))) is not None:
                claim.beat = time.monotonic()

    def holder(self, name: str) -> Holder | None:
        """Say who has claimed a name."""
        with self._lock:
            if (claim := self._claims.get(claim_name(name))) is None:
                return None
            return replace(claim.holder, silent_seconds=time.monotonic() - claim.beat)

    def _at_or_below(self, name: str) -> list[str]:
        return [name] if checked(name) in self._files else self.names(name)

    def _check_free(self, name: str) -> None:
        if self.exists(name):
            raise cannot_write(self.address(name), "it is there already")

    def _check_free_of_folders(self, name: str) -> None:
        """Refuse a file in the place of a folder, or below a file, as a disk would."""
        parts = checked(name).split("/")
        if self.names(name) or any("/".join(parts[:end]) in self._files for end in range(1, len(parts))):
            raise cannot_write(self.address(name), "a folder or a file is in the way")


class _MemoryClaim(Claim):
    """An entry in a store's table."""

    def __init__(self, store: MemoryStore, key: str) -> None:
        self.key, self.holder, self.beat = key, Holder.this_process(), time.monotonic()
        self._store = store

    def release(self) -> None:
        """Remove the entry."""
        self._store.release(self)
