"""What a recipe does to training images: flips, crops, and sizes that change as training goes on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from scalewise.config import Recipe
from scalewise.config.duration import Duration
from scalewise.data.augmentation import flip_and_crop, resized, size_at
from scalewise.data.trees import Tree, described
from scalewise.errors import ConfigError


@dataclass(frozen=True)
class ImageTransform:
    """Flips and crops by the seeds of examples; sizes by the step."""

    flips_and_crops: bool
    sizes: Sequence[tuple[float, int]]
    """The sizes that images are scaled to, each with the step that it begins at."""

    def __call__(self, images: Tree, targets: Tree, seeds: Tensor, step: int) -> tuple[Tree, Tree]:
        """Return the images of a microbatch as the network sees them, and their targets as they are."""
        if not isinstance(images, Tensor) or images.ndim != 4:
            raise ConfigError(f"{self} is for images: the inputs of this workload are {described(images)}")
        images = flip_and_crop(images, seeds) if self.flips_and_crops else images
        return resized(images, size_at(self.sizes, step)), targets

    def __str__(self) -> str:
        return "recipe.image_sizes" if self.sizes else "recipe.augmentation"

    @property
    def changes_at(self) -> list[int]:
        """The steps at which images get another size."""
        return [math.ceil(first_step) for first_step, _ in self.sizes]


def image_transform(recipe: Recipe, in_steps: Callable[[Duration], float]) -> ImageTransform | None:
    """Make the recipe's transform; None where it leaves images as they are."""
    if recipe.augmentation == "none" and not recipe.image_sizes:
        return None
    sizes = sorted((in_steps(start), size) for start, size in recipe.image_sizes)
    return ImageTransform(recipe.augmentation == "flip_and_crop", sizes)
