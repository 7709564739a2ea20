"""What a workload is: the class that a user's own workload extends."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor, nn

from scalewise.errors import ConfigError


class Workload(ABC):
    """Data, model, loss and metrics.

    Losses and metrics are one value per example: only so can they be added up over any number of workers.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}
    """The configuration that a run of this workload starts from: sections of keys, as in a recipe file."""

    @abstractmethod
    def data(self) -> Mapping[str, Any]:
        """Return the examples under the names train, val and, if there is one, test.

        In memory they are a pair (inputs, targets) of arrays or tensors; on disk a data set, which gives its length and
        one pair (input, target) by number, each the same whenever it is asked for.
        """

    @abstractmethod
    def model(self) -> nn.Module:
        """Return a new network; its initial weights may use torch's global random state."""

    @abstractmethod
    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of each example."""

    @abstractmethod
    def metrics(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """Return the metrics of each example, by name."""

    def summed_loss(self, outputs: Tensor, targets: Tensor, label_smoothing: float) -> Tensor:
        """Return the sum of the examples' losses, which is what training goes down."""
        if label_smoothing:
            raise ConfigError(
                f"recipe.label_smoothing={label_smoothing}: {type(self).__name__} has no labels to smooth"
            )
        return self.loss(outputs, targets).sum()


class Classification(Workload):
    """A workload whose outputs are a score for each class and whose targets are class numbers."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the cross entropy of each example."""
        return F.cross_entropy(outputs, targets, reduction="none")

    def summed_loss(self, outputs: Tensor, targets: Tensor, label_smoothing: float) -> Tensor:
        """Return the summed cross entropy against 1-e+e/K for an example's class and e/K for the others."""
        return F.cross_entropy(outputs, targets, reduction="sum", label_smoothing=label_smoothing)

    def metrics(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        """Return the cross entropy, and 1 for each example whose highest score is not its class."""
        return {
            "cross_entropy_error": F.cross_entropy(outputs, targets, reduction="none"),
            "classification_error": outputs.argmax(dim=1) != targets,
        }
