"""Where the files of a data set are looked for, and where they come from."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scalewise.data.files import read_checked
from scalewise.errors import DataError


@dataclass(frozen=True)
class Source:
    """The files of one data set."""

    name: str
    sha256: Mapping[str, str]
    """The digest of each file's unpacked content: the same on every mirror and in every package."""
    mirror: str
    """The folder with all files, each gzipped, or, at the end of its address, one archive of them."""
    download_bytes: int
    """How much is fetched from the mirror."""
    installed: Callable[[], Path | None] = lambda: None
    """Says where the files are when another package that has them is installed."""
    extra: str | None = None
    """The extra of scalewise that installs such a package."""

    def folders(self) -> list[Path]:
        """List where the files are looked for, in this order."""
        installed = self.installed()
        return [data_home() / self.name, *([installed] if installed else [])]

    def find(self, name: str) -> Path | None:
        """Find one file, gzipped or not."""
        candidates = (folder / form for folder in self.folders() for form in (name, f"{name}.gz"))
        return next((file for file in candidates if file.is_file()), None)

    def here(self) -> bool:
        """Say whether all files are on this machine."""
        return all(self.find(name) for name in self.sha256)

    def require(self, name: str) -> Path:
        """Find one file or say how to get it."""
        file = self.find(name)
        if file is None:
            raise DataError(
                f"the data set {self.name} is not on this machine (no {name} in "
                f"{' or '.join(map(str, self.folders()))}); {self.how_to_get()}"
            )
        return file

    def read(self, name: str) -> bytes:
        """Read one file, unpacked, and refuse it when it is not what was published."""
        return read_checked(self.require(name), self.sha256[name])

    def how_to_get(self) -> str:
        """Say how the files come to this machine."""
        by_pip = f", or install it with pip install 'scalewise[{self.extra}]'" if self.extra else ""
        return f"fetch it with 'scalewise data {self.name}'{by_pip}"


def data_home() -> Path:
    """Return the folder that holds fetched data: $SCALEWISE_DATA, else a folder in the user's cache."""
    chosen = os.environ.get("SCALEWISE_DATA")
    return Path(chosen) if chosen else Path.home() / ".cache" / "scalewise"
