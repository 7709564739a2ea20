"""The built-in image data sets as splits in memory."""

import functools
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from scalewise.data.cifar import TEST_FILE, TRAIN_FILES, parse_cifar
from scalewise.data.files import read_checked
from scalewise.data.idx import parse_idx
from scalewise.data.sources import SOURCES, Source
from scalewise.data.splits import Split

_HELD_OUT_OF_MNIST = 5_000
_HELD_OUT_OF_DIGITS = 250
_HELD_OUT_OF_CIFAR = 5_000
_CIFAR_MEAN = np.array([0.4914, 0.4822, 0.4465], dtype=np.float32).reshape(3, 1, 1)
_CIFAR_DEVIATION = np.array([0.2470, 0.2435, 0.2616], dtype=np.float32).reshape(3, 1, 1)


@dataclass(frozen=True)
class ImageData:
    """A data set of labelled images, described without loading it."""

    name: str
    shape: tuple[int, int, int]
    classes: int
    train_examples: int
    val_examples: int
    test_examples: int
    source: Source | None
    """None where the data comes with a dependency."""
    load: Callable[[], dict[str, Split]]

    def here(self) -> bool:
        """Say whether the data is on this machine."""
        return self.source is None or self.source.here()


def _split(images: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]) -> Split:
    return Split(torch.from_numpy(images), torch.from_numpy(labels))


def _load_digits() -> dict[str, Split]:
    """Load scikit-learn's digits, shuffled once: they come sorted by who wrote them."""
    table = _read_digits()
    shuffled = table[np.random.RandomState(0).permutation(len(table))]
    images = (shuffled[:, :-1].reshape(-1, 1, 8, 8) / 16).astype(np.float32)
    labels = shuffled[:, -1].astype(np.int64)
    test, val = _HELD_OUT_OF_DIGITS, 2 * _HELD_OUT_OF_DIGITS
    return {
        "train": _split(images[val:], labels[val:]),
        "val": _split(images[test:val], labels[test:val]),
        "test": _split(images[:test], labels[:test]),
    }


def _read_digits() -> npt.NDArray[np.float64]:
    """Read the table of 64 pixels and a label from where scikit-learn keeps it: importing all of that takes seconds."""
    package = importlib.util.find_spec("sklearn")
    assert package is not None and package.origin is not None
    file = Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz"
    return np.loadtxt(file, delimiter=",")


def _load_mnist(source: Source, train_examples: int) -> dict[str, Split]:
    """Load MNIST or a relative; the last 5,000 of its 60,000 training examples are held out as val."""

    def read(part: str) -> Split:
        images, labels = (
            parse_idx(read_checked(source.require(name), source.sha256[name]))
            for name in (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte")
        )
        return _split(images[:, np.newaxis].astype(np.float32) / np.float32(255), labels.astype(np.int64))

    everything = read("train")
    held_out = len(everything) - _HELD_OUT_OF_MNIST
    return {
        "train": everything.part(0, train_examples),
        "val": everything.part(held_out, len(everything)),
        "test": read("t10k"),
    }


def _mnist(name: str, source: Source, train_examples: int) -> ImageData:
    load = functools.partial(_load_mnist, source, train_examples)
    return ImageData(name, (1, 28, 28), 10, train_examples, _HELD_OUT_OF_MNIST, 10_000, source, load)


def _load_cifar(source: Source) -> dict[str, Split]:
    """Load CIFAR-10, every channel brought to mean 0 and deviation 1; the last 5,000 training examples are val."""

    def read(names: tuple[str, ...]) -> Split:
        parts = [parse_cifar(read_checked(source.require(name), source.sha256[name])) for name in names]
        images, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        scaled = images.astype(np.float32)
        scaled -= 255 * _CIFAR_MEAN  # in place: half a gigabyte is not copied again
        scaled /= 255 * _CIFAR_DEVIATION
        return _split(scaled, labels.astype(np.int64))

    everything = read(TRAIN_FILES)
    held_out = len(everything) - _HELD_OUT_OF_CIFAR
    return {
        "train": everything.part(0, held_out),
        "val": everything.part(held_out, len(everything)),
        "test": read((TEST_FILE,)),
    }


def _cifar(source: Source) -> ImageData:
    load = functools.partial(_load_cifar, source)
    return ImageData("cifar_10", (3, 32, 32), 10, 45_000, _HELD_OUT_OF_CIFAR, 10_000, source, load)


IMAGE_DATA = {
    data.name: data
    for data in (
        ImageData("digits", (1, 8, 8), 10, 1_297, 250, 250, None, _load_digits),
        _mnist("mnist", SOURCES["mnist"], 55_000),
        _mnist("fashion_mnist", SOURCES["fashion_mnist"], 55_000),
        _cifar(SOURCES["cifar_10"]),
        *(_mnist(f"mnist_subsets/mnist_{n}", SOURCES["mnist"], n) for n in (6_875, 13_750, 27_500, 55_000)),
    )
}
