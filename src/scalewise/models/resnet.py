"""ResNet-8: a stem, three residual blocks of 16, 32 and 64 filters, and the mean over the image."""

from collections.abc import Sequence

import torch.nn.functional as F
from torch import Tensor, nn

from scalewise.models.image_network import ImageNetwork

_FILTERS = (16, 32, 64)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions beside a shortcut, with normalisation after each."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.branch_end = nn.BatchNorm2d(outputs)
        self.shortcut = (
            nn.Identity()
            if stride == 1 and inputs == outputs
            else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Add the branch to the shortcut."""
        branch = F.relu(self.first_norm(self.first(inputs)), inplace=True)
        branch = self.branch_end(self.second(branch))
        return F.relu(branch + self.shortcut(inputs), inplace=True)


def resnet_8(shape: Sequence[int], classes: int) -> nn.Sequential:
    """Build the network for images of any size."""
    stem, middle, last = _FILTERS
    return nn.Sequential(
        nn.Conv2d(shape[0], stem, 3, padding=1, bias=False),
        nn.BatchNorm2d(stem),
        nn.ReLU(inplace=True),
        ResidualBlock(stem, stem, stride=1),
        ResidualBlock(stem, middle, stride=2),
        ResidualBlock(middle, last, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(last, classes),
    )


RESNET_8 = ImageNetwork(names=("resnet_8",), build=lambda shape, classes, name: resnet_8(shape, classes))
