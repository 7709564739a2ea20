"""The simple CNN: two 5x5 convolutions with pooling, a dense layer with dropout."""

from collections.abc import Sequence

from torch import nn

from scalewise.models.image_network import ImageNetwork

# Filters of the two convolutions, units of the dense layer.
_SIZES = {"base": (32, 64, 1024), "narrow": (16, 32, 512), "wide": (64, 128, 2048)}
_DROPOUT = 0.4


def simple_cnn(shape: Sequence[int], classes: int, size: str) -> nn.Sequential:
    """Build the network for images whose height and width are multiples of 4."""
    channels, height, width = shape
    first, second, units = _SIZES[size]
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


SIMPLE_CNN = ImageNetwork(
    names=tuple(f"simple_cnn_{size}" for size in _SIZES),
    side_multiple=4,
    build=lambda shape, classes, name: simple_cnn(shape, classes, size=name.removeprefix("simple_cnn_")),
)
