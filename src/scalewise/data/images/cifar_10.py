"""CIFAR-10: 60,000 colour images of 32 by 32 pixels, in the binary format in which it is published.

A record is one byte of label and 3,072 bytes of image: all of its red, then its green, then its blue.
"""

import numpy as np
import numpy.typing as npt

from scalewise.data.images.image_data import ImageData, labelled
from scalewise.data.sources import Source
from scalewise.data.splits import Split

TRAIN_FILES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST_FILE = "test_batch.bin"
_SHAPE = (3, 32, 32)
_RECORD = 1 + 3 * 32 * 32
_HELD_OUT = 5_000
_MEAN = np.array([0.4914, 0.4822, 0.4465], dtype=np.float32).reshape(3, 1, 1)
_DEVIATION = np.array([0.2470, 0.2435, 0.2616], dtype=np.float32).reshape(3, 1, 1)

_SOURCE = Source(
    name="cifar_10",
    sha256={
        "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
        "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
        "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
        "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
        "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
        "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    },
    mirror="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    download_bytes=170_052_171,
)


def parse_cifar(content: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the images and the labels of a file.

    >>> images, labels = parse_cifar(bytes([7] + [1] * 1024 + [2] * 2048))
    >>> images.shape, labels.tolist(), images[0, :, 0, 0].tolist()
    ((1, 3, 32, 32), [7], [1, 2, 2])
    """
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, _RECORD)
    return records[:, 1:].reshape(-1, *_SHAPE), records[:, 0]


def _load() -> dict[str, Split]:
    """Load images, every channel brought to mean 0 and deviation 1; the last 5,000 training examples are val."""
    everything = _read(*TRAIN_FILES)
    held_out = len(everything) - _HELD_OUT
    return {
        "train": everything.part(0, held_out),
        "val": everything.part(held_out, len(everything)),
        "test": _read(TEST_FILE),
    }


def _read(*names: str) -> Split:
    parts = [parse_cifar(_SOURCE.read(name)) for name in names]
    images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    scaled = images.astype(np.float32)
    scaled -= 255 * _MEAN  # in place: half a gigabyte is not copied again
    scaled /= 255 * _DEVIATION
    return labelled(scaled, labels)


CIFAR_10 = ImageData(
    name="cifar_10",
    shape=_SHAPE,
    classes=10,
    examples={"train": 45_000, "val": _HELD_OUT, "test": 10_000},
    source=_SOURCE,
    load=_load,
)
