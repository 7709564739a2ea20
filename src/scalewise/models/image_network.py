"""What every network for images says of itself."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class ImageNetwork:
    """A network, or several forms of one, that scores the classes of an image."""

    names: tuple[str, ...]
    """The forms as they are listed; what is between `<` and `>` stands for whatever the pattern lets through."""
    build: Callable[[Sequence[int], int, str], nn.Module]
    """Builds the form of a name, for images of a shape (channels, height, width) and a number of classes."""
    pattern: str | None = None
    """A regular expression for the names; None: just those that are listed."""
    side_multiple: int = 1
    """It takes images whose height and width are multiples of this."""

    def is_named(self, name: str) -> bool:
        """Say whether there is a form of this name."""
        return name in self.names if self.pattern is None else re.fullmatch(self.pattern, name) is not None

    def takes(self, shape: Sequence[int]) -> bool:
        """Say whether images of a shape can go in."""
        return all(side % self.side_multiple == 0 for side in shape[1:])
