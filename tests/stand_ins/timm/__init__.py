"""Stands in for timm where it cannot be installed: networks of the same shape under the same names."""

from typing import Any, cast

from torch import Tensor, nn


class BatchNormAct2d(nn.BatchNorm2d):
    """Batch normalisation that holds its activation."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.drop, self.act = nn.Identity(), nn.SiLU(inplace=True)

    def forward(self, inputs: Tensor) -> Tensor:
        return cast(Tensor, self.act(self.drop(super().forward(inputs))))


class Residual(nn.Sequential):
    """Layers beside a shortcut."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs + cast(Tensor, super().forward(inputs))  # type: ignore[no-untyped-call]


class SqueezeExcite(nn.Sequential):
    """A factor for each channel, from the whole image."""

    def forward(self, inputs: Tensor) -> Tensor:
        whole = inputs.mean((2, 3), keepdim=True)
        return inputs * cast(Tensor, super().forward(whole))  # type: ignore[no-untyped-call]


class Patches(nn.Conv2d):
    """The patches of an image, one after the other."""

    def forward(self, inputs: Tensor) -> Tensor:
        return super().forward(inputs).flatten(2).transpose(1, 2)


class Mean(nn.Module):
    """The mean over all patches."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs.mean(dim=1)


def create_model(name: str, num_classes: int, **_: Any) -> nn.Module:
    """Make a network that has what the one of this name has."""
    return {"test_efficientnet": _efficientnet, "test_resnet": _resnet, "test_vit": _vit}[name](num_classes)


def _efficientnet(classes: int) -> nn.Module:
    stem = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), BatchNormAct2d(8)
    squeezed = SqueezeExcite(nn.Conv2d(16, 4, 1), nn.SiLU(), nn.Conv2d(4, 16, 1), nn.Sigmoid())
    depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False), BatchNormAct2d(16), squeezed
    widened = nn.Conv2d(8, 16, 1, bias=False), BatchNormAct2d(16)
    block = Residual(*widened, *depthwise, nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8))
    return nn.Sequential(*stem, block, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, classes))


def _resnet(classes: int) -> nn.Module:
    stem = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True)
    block = Residual(nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8))
    return nn.Sequential(*stem, block, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, classes))


def _vit(classes: int) -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
    patches = Patches(3, 16, 16, stride=16)
    return nn.Sequential(patches, nn.TransformerEncoder(layer, 1), Mean(), nn.Linear(16, classes))
