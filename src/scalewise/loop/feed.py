"""Feeds the network: which examples a microbatch holds, and what is done to them on the way."""

from collections.abc import Sequence
from dataclasses import dataclass

from scalewise.data.augmentation import flip_and_crop, resized, size_at
from scalewise.data.splits import Split
from scalewise.loop.source import Source
from scalewise.optim.randomness import seed_microbatch


@dataclass(frozen=True)
class Feed:
    """The microbatches of every step: a pure function of (seed, step, microbatch)."""

    source: Source
    seed: int
    augmented: bool
    sizes: Sequence[tuple[float, int]]
    """The sizes that images are scaled to, each with the step that it begins at."""

    def microbatch(self, step: int, index: int) -> Split:
        """Return the examples, and leave torch's generators seeded for whatever the network draws."""
        chosen = self.source.microbatch(step, index)
        seed_microbatch(self.seed, step, index, chosen.inputs.device)
        if not self.augmented and not self.sizes:
            return chosen
        images = flip_and_crop(chosen.inputs) if self.augmented else chosen.inputs
        return Split(resized(images, size_at(self.sizes, step)), chosen.targets)
