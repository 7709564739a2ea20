"""What a workload is: the class that a user's own workload extends."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import default_collate

from scalewise.config import Recipe
from scalewise.config.duration import Duration
from scalewise.data.trees import Tree
from scalewise.errors import ConfigError, WorkloadError
from scalewise.workloads.images_recipe import ImageTransform, image_transform
from scalewise.workloads.metric import Metric

PerExample = Tensor | tuple[Tensor, Tensor]
"""One value per example; or, for examples that count differently, one sum and one weight per example."""


class Workload(ABC):
    """Data, model, loss and metrics.

    Losses and metrics are given per example: only so can they be added up over any number of workers. Where an example
    counts for more than one, such as a sentence for its tokens, they are a pair: the sum over the example's tokens, and
    its number of tokens. Training and evaluation then take the mean over tokens, exactly, for any microbatch.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}
    """The configuration that a run of this workload starts from: sections of keys, as in a recipe file."""
    measures: ClassVar[Sequence[Metric]] = ()
    """Metrics that are more than a plain mean of which lower is better; the first is what reports speak of."""

    @abstractmethod
    def data(self) -> Mapping[str, Any]:
        """Return the examples under the names train, val and, if there is one, test.

        In memory they are a pair (inputs, targets), each a tensor or array, or a tuple or dict of them. On disk they
        are a data set, which gives its length and one pair (input, target) by number, always the same one.
        """

    @abstractmethod
    def model(self) -> nn.Module:
        """Return a new network; its initial weights may use torch's global random state."""

    @abstractmethod
    def loss(self, outputs: Any, targets: Any) -> PerExample:
        """Return the loss of each example, or the pair (sums, weights)."""

    @abstractmethod
    def metrics(self, outputs: Any, targets: Any) -> Mapping[str, Any]:
        """Return the metrics of each example by name; a pair (sums, weights) where examples count differently."""

    def outputs(self, model: Callable[..., Any], inputs: Tree) -> Any:
        """Put inputs through the network: a tensor as its argument, a tuple as several, a dict by their names."""
        if isinstance(inputs, Tensor):
            return model(inputs)
        return model(**inputs) if isinstance(inputs, dict) else model(*inputs)

    def collate(self, examples: list[Any]) -> tuple[Tree, Tree]:
        """Put examples of a data set together, e.g. by padding those of different lengths."""
        inputs, targets = default_collate(examples)
        return inputs, targets

    def transform_example(self, example: Any, seed: int) -> Any:
        """Change one training example (input, target) before it is collated, in the processes that read.

        It must be a pure function of the example and the seed, which comes from (seed, epoch, position).
        """
        return example

    def transform(self, inputs: Tree, targets: Tree, seeds: Tensor) -> tuple[Tree, Tree]:
        """Change the training examples of a microbatch at once, where they are used; one seed per example.

        What becomes of an example must not depend on its neighbours. `scalewise.data.draws` has random numbers by seed.
        """
        return inputs, targets

    def recipe_transform(self, recipe: Recipe, in_steps: Callable[[Duration], float]) -> ImageTransform | None:
        """Return what the recipe does to images, if these are images."""
        if recipe.augmentation != "none" or recipe.image_sizes:
            key = "image_sizes" if recipe.image_sizes else "augmentation"
            raise ConfigError(f"recipe.{key} is for images: {type(self).__name__} does not classify images")
        return None

    def summed_loss(self, outputs: Any, targets: Any, label_smoothing: float) -> PerExample:
        """Return the sum of the examples' losses, which is what training goes down; with the sum of their weights."""
        if label_smoothing:
            raise ConfigError(
                f"recipe.label_smoothing={label_smoothing}: {type(self).__name__} has no labels to smooth"
            )
        losses = self.loss(outputs, targets)
        return losses.sum() if isinstance(losses, Tensor) else (losses[0].sum(), losses[1].sum())

    def check(self, outputs: Any, targets: Tree) -> None:  # noqa: B027 - most workloads take any targets
        """Refuse targets that do not fit the network: its outputs for a few examples, all targets that are known."""

    def metric(self, name: str) -> Metric:
        """Return what is known about a metric."""
        return next((metric for metric in self.measures if metric.name == name), Metric(name))


class Classification(Workload):
    """A workload whose outputs are a score for each class and whose targets are class numbers."""

    measures: ClassVar[Sequence[Metric]] = (
        Metric("classification_error", complement="accuracy"),
        Metric("cross_entropy_error", unit="nats"),
    )

    def loss(self, outputs: Any, targets: Any) -> Tensor:
        """Return the cross entropy of each example."""
        return F.cross_entropy(outputs, targets, reduction="none")

    def summed_loss(self, outputs: Any, targets: Any, label_smoothing: float) -> Tensor:
        """Return the summed cross entropy against 1-e+e/K for an example's class and e/K for the others."""
        return F.cross_entropy(outputs, targets, reduction="sum", label_smoothing=label_smoothing)

    def metrics(self, outputs: Any, targets: Any) -> Mapping[str, Any]:
        """Return the cross entropy, and 1 for each example whose highest score is not its class."""
        return {
            "cross_entropy_error": F.cross_entropy(outputs, targets, reduction="none"),
            "classification_error": outputs.argmax(dim=1) != targets,
        }

    def recipe_transform(self, recipe: Recipe, in_steps: Callable[[Duration], float]) -> ImageTransform | None:
        """Return the flips, crops and sizes of the recipe."""
        return image_transform(recipe, in_steps)

    def check(self, outputs: Any, targets: Tree) -> None:
        """Refuse labels that are no class numbers of the network."""
        if type(self).loss is not Classification.loss:
            return  # which may have a meaning of its own for them
        name = type(self).__name__
        if not isinstance(outputs, Tensor) or outputs.ndim != 2 or not outputs.is_floating_point():
            found = tuple(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
            raise WorkloadError(
                f"{name} is a Classification: its model must put out one score per class, (examples, classes), not "
                f"{found}; override outputs() to pick the scores, or loss() and metrics()"
            )
        if not isinstance(targets, Tensor) or targets.dtype != torch.int64 or targets.ndim != 1:
            found = f"{targets.dtype} {tuple(targets.shape)}" if isinstance(targets, Tensor) else type(targets).__name__
            raise WorkloadError(
                f"{name} is a Classification: its targets must be class numbers, int64 (examples,), not "
                f"{found.removeprefix('torch.')}"
            )
        classes = outputs.shape[1]
        lowest, highest = int(targets.min()), int(targets.max())
        if lowest < 0 or highest >= classes:
            raise WorkloadError(
                f"{name} has labels from {lowest} to {highest}, but its model has scores for classes 0 to {classes - 1}"
            )
