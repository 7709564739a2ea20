"""What every image data set says of itself, and how its examples become a split."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from scalewise.data.sources import Source
from scalewise.data.splits import Split


@dataclass(frozen=True)
class ImageData:
    """A data set of labelled images, described without loading it."""

    name: str
    shape: tuple[int, int, int]
    """Channels, height and width of an image."""
    classes: int
    examples: Mapping[str, int]
    """How many examples each split has."""
    source: Source
    load: Callable[[], dict[str, Split]]


def labelled(images: npt.NDArray[np.float32], labels: npt.NDArray[Any]) -> Split:
    """Return images and the numbers of their classes as a split."""
    return Split(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))
