"""The digits of scikit-learn: 1,797 images of 8 by 8 pixels, small enough to train within seconds."""

import importlib.util
import io
from pathlib import Path

import numpy as np

from scalewise.data.images.image_data import ImageData, labelled
from scalewise.data.sources import Source
from scalewise.data.splits import Split

_HELD_OUT = 250
_TABLE = "digits.csv"


def _in_scikit_learn() -> Path | None:
    """Return the folder in which an installed scikit-learn has the table: importing it would take seconds."""
    package = importlib.util.find_spec("sklearn")
    return Path(package.origin).parent / "datasets" / "data" if package and package.origin else None


_SOURCE = Source(
    name="digits",
    sha256={_TABLE: "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"},
    mirror="https://raw.githubusercontent.com/scikit-learn/scikit-learn/1.5.2/sklearn/datasets/data",
    download_bytes=57_523,
    installed=_in_scikit_learn,
    extra="digits",
)


def _load() -> dict[str, Split]:
    """Load a table of 64 pixels and a label in each row, shuffled once: it is sorted by who wrote the digits."""
    table = np.loadtxt(io.BytesIO(_SOURCE.read(_TABLE)), delimiter=",")
    shuffled = table[np.random.RandomState(0).permutation(len(table))]
    everything = labelled((shuffled[:, :-1].reshape(-1, 1, 8, 8) / 16).astype(np.float32), shuffled[:, -1])
    test, val = _HELD_OUT, 2 * _HELD_OUT
    return {
        "train": everything.part(val, len(everything)),
        "val": everything.part(test, val),
        "test": everything.part(0, test),
    }


DIGITS = ImageData(
    name="digits",
    shape=(1, 8, 8),
    classes=10,
    examples={"train": 1_297, "val": _HELD_OUT, "test": _HELD_OUT},
    source=_SOURCE,
    load=_load,
)
