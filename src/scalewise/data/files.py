"""Reads data files and refuses those that are not what was published."""

import gzip
import hashlib
import zlib
from pathlib import Path

from scalewise.errors import DataError


def read_bytes(file: Path) -> bytes:
    """Read a file, unpacked when it is gzipped."""
    try:
        content = file.read_bytes()
        return gzip.decompress(content) if file.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {file}: {error}; delete it and fetch it again with 'scalewise data'") from None


def read_checked(file: Path, sha256: str) -> bytes:
    """Read a file whose unpacked content has the given digest."""
    content = read_bytes(file)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(f"{file} is damaged: its sha256 differs; delete it and fetch it again with 'scalewise data'")
    return content
