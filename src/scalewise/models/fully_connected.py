"""Fully connected networks: `fc_64_64` has two hidden layers of 64 units."""

import itertools
import math
from collections.abc import Sequence

from torch import nn

from scalewise.models.image_network import ImageNetwork


def fully_connected(shape: Sequence[int], classes: int, widths: Sequence[int]) -> nn.Sequential:
    """Build a network of dense layers with ReLU between them."""
    sizes = [math.prod(shape), *widths]
    hidden = [
        layer
        for inputs, outputs in itertools.pairwise(sizes)
        for layer in (nn.Linear(inputs, outputs), nn.ReLU(inplace=True))
    ]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(sizes[-1], classes))


FULLY_CONNECTED = ImageNetwork(
    names=("fc_<widths>",),
    pattern=r"fc(_[1-9][0-9]*)+",
    build=lambda shape, classes, name: fully_connected(shape, classes, [int(width) for width in name.split("_")[1:]]),
)
