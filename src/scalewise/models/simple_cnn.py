"""The simple CNN: two 5x5 convolutions with pooling, a dense layer with dropout."""

from collections.abc import Sequence

from torch import nn

# Filters of the two convolutions, units of the dense layer.
SIZES = {"narrow": (16, 32, 512), "base": (32, 64, 1024), "wide": (64, 128, 2048)}
_DROPOUT = 0.4


def simple_cnn(shape: Sequence[int], classes: int, size: str) -> nn.Sequential:
    """Build the network for images whose height and width are multiples of 4."""
    channels, height, width = shape
    first, second, units = SIZES[size]
    return nn.Sequential(
        nn.Conv2d(channels, first, kernel_size=5, padding=2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(first, second, kernel_size=5, padding=2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * (height // 4) * (width // 4), units),
        nn.ReLU(inplace=True),
        nn.Dropout(_DROPOUT),
        nn.Linear(units, classes),
    )
