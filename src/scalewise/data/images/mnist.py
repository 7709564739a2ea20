"""MNIST, the first so many of its training examples, and Fashion-MNIST, which is published in the same form."""

import functools
from pathlib import Path

import numpy as np

from scalewise.data.images.idx import parse_idx
from scalewise.data.images.image_data import ImageData, labelled
from scalewise.data.sources import Source
from scalewise.data.splits import Split

_HELD_OUT = 5_000

_MNIST = Source(
    name="mnist",
    sha256={
        "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
    mirror="https://ossci-datasets.s3.amazonaws.com/mnist",
    download_bytes=11_594_722,
)
_FASHION_MNIST = Source(
    name="fashion_mnist",
    sha256={
        "train-images-idx3-ubyte": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "train-labels-idx1-ubyte": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "t10k-images-idx3-ubyte": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "t10k-labels-idx1-ubyte": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    },
    mirror="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    download_bytes=30_878_645,
    installed=lambda: Path("/usr/share/datasets/fashion-mnist"),  # where Debian's package has it
)


def _load(source: Source, train_examples: int) -> dict[str, Split]:
    """Load images; the last 5,000 of the 60,000 training examples are held out as val."""

    def read(part: str) -> Split:
        images, labels = (
            parse_idx(source.read(name)) for name in (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte")
        )
        return labelled(images[:, np.newaxis].astype(np.float32) / np.float32(255), labels)

    everything = read("train")
    held_out = len(everything) - _HELD_OUT
    return {
        "train": everything.part(0, train_examples),
        "val": everything.part(held_out, len(everything)),
        "test": read("t10k"),
    }


def _described(name: str, source: Source, train_examples: int) -> ImageData:
    return ImageData(
        name=name,
        shape=(1, 28, 28),
        classes=10,
        examples={"train": train_examples, "val": _HELD_OUT, "test": 10_000},
        source=source,
        load=functools.partial(_load, source, train_examples),
    )


MNIST = _described("mnist", _MNIST, 55_000)
FASHION_MNIST = _described("fashion_mnist", _FASHION_MNIST, 55_000)
MNIST_6875, MNIST_13750, MNIST_27500, MNIST_55000 = (
    _described(f"mnist_subsets/mnist_{count}", _MNIST, count) for count in (6_875, 13_750, 27_500, 55_000)
)
