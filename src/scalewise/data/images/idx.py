"""Reads the idx format in which MNIST and its relatives are published."""

import numpy as np
import numpy.typing as npt


def parse_idx(content: bytes) -> npt.NDArray[np.uint8]:
    """Read an array of bytes: two zeros, the type 8, the number of dimensions, the sizes, the bytes.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])).tolist()
    [7, 9]
    """
    dimensions = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=dimensions, offset=4).astype(int)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)
