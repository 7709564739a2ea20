"""What is done to training images: flips and crops, and other sizes."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from scalewise.data.draws import integers, uniform

_CROP_MARGIN = 4


def flip_and_crop(images: Tensor, seeds: Tensor) -> Tensor:
    """Mirror each image or not, and cut it out of a wider black one at a place; both by its seed.

    He et al. 2015, arXiv:1512.03385, section 4.2.
    """
    count, _, height, width = images.shape
    padded = F.pad(images, (_CROP_MARGIN,) * 4)
    tops, lefts = (integers(seeds, draw, 2 * _CROP_MARGIN + 1)[:, None] for draw in (0, 1))
    rows, columns = tops + torch.arange(height), lefts + torch.arange(width)
    columns = torch.where(uniform(seeds, 2)[:, None] < 0.5, columns, columns.flip(1))
    # Indices around a slice put what they pick first and the slice last: images come out with their channels last.
    rows, columns = rows.to(images.device), columns.to(images.device)
    picked = padded[torch.arange(count, device=images.device)[:, None, None], :, rows[:, :, None], columns[:, None, :]]
    return picked.permute(0, 3, 1, 2)


def size_at(sizes: Sequence[tuple[float, int]], step: int) -> int | None:
    """Return the size of the images in a step, of sizes with the step that each begins at; None: their own.

    >>> [size_at([(0, 16), (100, 24)], step) for step in (0, 99, 100)]
    [16, 16, 24]
    """
    begun = [size for first_step, size in sizes if first_step <= step]
    return begun[-1] if begun else None


def resized(images: Tensor, size: int | None) -> Tensor:
    """Scale images to a square of another size."""
    if size is None or images.shape[-2:] == (size, size):
        return images
    return F.interpolate(images, size=(size, size), mode="bilinear", align_corners=False, antialias=True)
