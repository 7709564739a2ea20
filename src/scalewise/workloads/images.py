"""The built-in workloads: an image data set with a reference network, a target and a recipe that reaches it."""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from scalewise.data.images import IMAGE_DATA, ImageData
from scalewise.data.splits import Split
from scalewise.errors import WorkloadError, nearest
from scalewise.models.fully_connected import fully_connected
from scalewise.models.plain_cnn import plain_cnn
from scalewise.models.resnet import resnet_8
from scalewise.models.simple_cnn import SIZES, simple_cnn
from scalewise.workloads.base import Classification

_FULLY_CONNECTED = re.compile(r"fc((?:_[1-9][0-9]*)+)")
_SIMPLE_CNN = re.compile(rf"simple_cnn_({'|'.join(SIZES)})")
_SMALL_IMAGE_MODELS = ("fc_<widths>", *(f"simple_cnn_{size}" for size in ("base", "narrow", "wide")))
_CIFAR_MODELS = ("resnet_8", "plain_cnn", "plain_cnn_bn")


@dataclass(frozen=True)
class Default:
    """Where a workload wants to go and the recipe that gets it there."""

    error: float
    """The validation error to get below."""
    global_batch: int
    learning_rate: float
    epochs: int
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Other keys of the recipe."""

    def layer(self) -> dict[str, Any]:
        """Return it as a layer of configuration."""
        return {
            "recipe": {"global_batch": self.global_batch, "learning_rate": self.learning_rate, **self.more},
            "stop": {"target": f"val/classification_error<{self.error}", "epochs": self.epochs},
        }


# The targets of mnist and fashion_mnist are the published ones of the batch-science studies, where there is one.
_FC_DEFAULTS = {
    "digits": Default(0.05, 64, 0.1, 60),
    "mnist": Default(0.03, 128, 0.05, 20),
    "fashion_mnist": Default(0.12, 128, 0.05, 30),
    "mnist_subsets/mnist_6875": Default(0.06, 128, 0.05, 60),
    "mnist_subsets/mnist_13750": Default(0.05, 128, 0.05, 40),
    "mnist_subsets/mnist_27500": Default(0.04, 128, 0.05, 30),
    "mnist_subsets/mnist_55000": Default(0.03, 128, 0.05, 20),
}
_CNN_DEFAULTS = {
    "digits": Default(0.03, 64, 0.02, 60),
    "mnist": Default(0.01, 128, 0.02, 15),
    "fashion_mnist": Default(0.1, 128, 0.02, 20),
    "mnist_subsets/mnist_6875": Default(0.025, 128, 0.02, 60),
    "mnist_subsets/mnist_13750": Default(0.02, 128, 0.02, 40),
    "mnist_subsets/mnist_27500": Default(0.015, 128, 0.02, 30),
    "mnist_subsets/mnist_55000": Default(0.01, 128, 0.02, 15),
}
# Plain momentum bears about three times the rate that Nesterov's does, and clipping bears what plain momentum does not:
# a network without normalisation needs both where the rate grows with the batch.
_CIFAR_DEFAULTS = {
    "resnet_8": Default(0.3, 128, 0.1, 20),
    "plain_cnn": Default(0.35, 128, 0.02, 20, {"optimizer": "momentum", "clip_norm": 2.0}),
    "plain_cnn_bn": Default(0.35, 128, 0.05, 20, {"optimizer": "momentum"}),
}


class ImageClassification(Classification):
    """An image data set with a reference network."""

    def __init__(self, image_data: ImageData, network: Callable[[], nn.Module], default: Default) -> None:
        self._image_data = image_data
        self._network = network
        self.defaults = default.layer()  # type: ignore[misc] # built-in workloads are made by name, not by class

    def data(self) -> Mapping[str, Split]:
        """Load the images."""
        return self._image_data.load()

    def model(self) -> nn.Module:
        """Build the network."""
        return self._network()


def image_workload(name: str) -> ImageClassification:
    """Make the built-in workload of a name such as `fashion_mnist/fc_128`."""
    data_name, _, model_name = name.rpartition("/")
    if data_name not in IMAGE_DATA:
        hint = nearest(data_name or model_name, IMAGE_DATA) or f"; there are {', '.join(IMAGE_DATA)}"
        raise WorkloadError(f"unknown workload {name!r}: no data set is named {data_name or model_name!r}{hint}")
    data = IMAGE_DATA[data_name]
    network = _network(data, model_name)
    if network is not None:
        return ImageClassification(data, network, default_of(data_name, model_name))
    names = model_names(data_name)
    hint = nearest(model_name, names) or f"; there are {', '.join(names)}"
    raise WorkloadError(f"unknown workload {name!r}: no model is named {model_name!r}{hint}")


def _network(data: ImageData, model_name: str) -> Callable[[], nn.Module] | None:
    """Return what builds a network, or None when a data set goes with no model of this name."""
    shape, classes = data.shape, data.classes
    if data.name == "cifar_10":
        return {
            "resnet_8": lambda: resnet_8(shape, classes),
            "plain_cnn": lambda: plain_cnn(shape, classes, normalised=False),
            "plain_cnn_bn": lambda: plain_cnn(shape, classes, normalised=True),
        }.get(model_name)
    if match := _FULLY_CONNECTED.fullmatch(model_name):
        widths = [int(width) for width in match[1][1:].split("_")]
        return lambda: fully_connected(shape, classes, widths)
    if match := _SIMPLE_CNN.fullmatch(model_name):
        size = match[1]
        return lambda: simple_cnn(shape, classes, size)
    return None


def model_names(data_name: str) -> tuple[str, ...]:
    """List the models that go with a data set."""
    return _CIFAR_MODELS if data_name == "cifar_10" else _SMALL_IMAGE_MODELS


def default_of(data_name: str, model_name: str) -> Default:
    """Return the target and recipe of a data set with one of its `model_names`."""
    if data_name == "cifar_10":
        return _CIFAR_DEFAULTS[model_name]
    return (_CNN_DEFAULTS if model_name.startswith("simple_cnn") else _FC_DEFAULTS)[data_name]
