"""The family of images: a data set with a reference network, a target and a recipe that reaches it."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from scalewise.data.images.image_data import ImageData
from scalewise.data.splits import Split
from scalewise.models.image_network import ImageNetwork
from scalewise.workloads.base import Classification
from scalewise.workloads.family import Family, ListedData, ListedWorkload


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

    @property
    def target(self) -> str:
        """The target as `stop.target` has it."""
        return f"val/classification_error<{self.error}"

    def layer(self) -> dict[str, Any]:
        """Return it as a layer of configuration."""
        return {
            "recipe": {"global_batch": self.global_batch, "learning_rate": self.learning_rate, **self.more},
            "stop": {"target": self.target, "epochs": self.epochs},
        }


@dataclass(frozen=True)
class Pair:
    """A data set and a network that go together."""

    data: ImageData
    network: ImageNetwork
    default: Default

    def __post_init__(self) -> None:
        assert self.network.takes(self.data.shape), f"{self.names} do not take images of shape {self.data.shape}"

    @property
    def names(self) -> list[str]:
        """The workloads' names as they are listed."""
        return [f"{self.data.name}/{model}" for model in self.network.names]


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


@dataclass(frozen=True)
class Images(Family):
    """All data sets of images with the networks that go with them."""

    pairs: Sequence[Pair]

    def data_sets(self) -> list[ListedData]:
        """List the data sets in the order of their first pairs."""
        once = {pair.data.name: pair.data for pair in self.pairs}
        return [ListedData(data.name, data.examples, data.source) for data in once.values()]

    def workloads(self) -> list[ListedWorkload]:
        """List every pair, under each name that its network has."""
        return [ListedWorkload(name, target=pair.default.target) for pair in self.pairs for name in pair.names]

    def find(self, name: str) -> ImageClassification | None:
        """Make the workload of a name such as `fashion_mnist/fc_128`."""
        data_name, _, model_name = name.rpartition("/")
        for pair in self.pairs:
            if pair.data.name == data_name and pair.network.is_named(model_name):
                data = pair.data
                network = functools.partial(pair.network.build, data.shape, data.classes, model_name)
                return ImageClassification(data, network, pair.default)
        return None
