"""Reads the idx format in which MNIST and its relatives are published."""

import gzip
import hashlib
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scalewise.errors import DataError


def read_bytes(file: Path) -> bytes:
    """Read a file, unpacked when it is gzipped."""
    try:
        content = file.read_bytes()
        return gzip.decompress(content) if file.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {file}: {error}; delete it and fetch it again with 'scalewise data'") from None


def read_idx(file: Path, sha256: str) -> npt.NDArray[np.uint8]:
    """Read an idx file of bytes after checking that its unpacked content has the given digest."""
    content = read_bytes(file)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(f"{file} is damaged: its sha256 differs; delete it and fetch it again with 'scalewise data'")
    return parse_idx(content)


def parse_idx(content: bytes) -> npt.NDArray[np.uint8]:
    """Read an array of bytes: two zeros, the type 8, the number of dimensions, the sizes, the bytes.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])).tolist()
    [7, 9]
    """
    dimensions = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=dimensions, offset=4).astype(int)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)
