"""The plain CNN: three 3x3 convolutions with pooling and a dense layer, with or without batch normalisation."""

from collections.abc import Sequence

from torch import nn

from scalewise.models.image_network import ImageNetwork

_FILTERS = (16, 32, 64)
_UNITS = 128


def plain_cnn(shape: Sequence[int], classes: int, normalised: bool) -> nn.Sequential:
    """Build the network for images whose height and width are multiples of 8."""
    layers: list[nn.Module] = []
    channels, height, width = shape
    for filters in _FILTERS:
        layers += [nn.Conv2d(channels, filters, 3, padding=1, bias=not normalised)]
        layers += [nn.BatchNorm2d(filters)] if normalised else []
        layers += [nn.ReLU(inplace=True), nn.MaxPool2d(2)]
        channels = filters
    layers += [nn.Flatten(), nn.Linear(channels * (height // 8) * (width // 8), _UNITS, bias=not normalised)]
    layers += [nn.BatchNorm1d(_UNITS)] if normalised else []
    return nn.Sequential(*layers, nn.ReLU(inplace=True), nn.Linear(_UNITS, classes))


PLAIN_CNN = ImageNetwork(
    names=("plain_cnn",),
    side_multiple=8,
    build=lambda shape, classes, name: plain_cnn(shape, classes, normalised=False),
)
PLAIN_CNN_BN = ImageNetwork(
    names=("plain_cnn_bn",),
    side_multiple=8,
    build=lambda shape, classes, name: plain_cnn(shape, classes, normalised=True),
)
