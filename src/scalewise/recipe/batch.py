"""The arithmetic of a batch: a global batch is cut into microbatches, and workers share the microbatches out."""

from dataclasses import dataclass

from scalewise.config import AUTO, Recipe
from scalewise.errors import ConfigError

_AUTO_MICROBATCH = 64


@dataclass(frozen=True)
class Batch:
    """A global batch and the microbatches it is made of; the last one may be smaller."""

    examples: int
    microbatch: int

    @property
    def microbatches(self) -> int:
        """How many microbatches a step has.

        >>> Batch(examples=97, microbatch=49).microbatches
        2
        """
        return -(-self.examples // self.microbatch)

    def size(self, index: int) -> int:
        """How many examples one microbatch has.

        >>> [Batch(97, 49).size(index) for index in range(2)]
        [49, 48]
        """
        return min(self.microbatch, self.examples - index * self.microbatch)

    def position(self, step: int, index: int) -> int:
        """Where in the stream of examples one microbatch of one step begins."""
        return step * self.examples + index * self.microbatch

    def share(self, worker: int, workers: int) -> range:
        """Which microbatches one worker computes: a run of neighbours, as even as can be.

        >>> [list(Batch(80, 16).share(worker, 3)) for worker in range(3)]
        [[0], [1, 2], [3, 4]]
        """
        count = self.microbatches
        if workers > count:
            need = -(-self.examples // workers)
            mend = f" or a microbatch of {need}" if -(-self.examples // need) >= workers else ""
            raise ConfigError(
                f"global batch {self.examples} gives {count} microbatch{'es' * (count > 1)} of {self.microbatch}: "
                f"they cannot feed {workers} workers; use at most {count} worker{'s' * (count > 1)}{mend}"
            )
        return range(worker * count // workers, (worker + 1) * count // workers)


def batch_of(recipe: Recipe) -> Batch:
    """Cut the recipe's global batch.

    >>> batch_of(Recipe(global_batch=97))
    Batch(examples=97, microbatch=49)
    >>> batch_of(Recipe(global_batch=4096)).microbatches
    64
    """
    examples, ghost = recipe.global_batch, recipe.ghost_batch
    if ghost is not None and ghost > (examples if recipe.microbatch == AUTO else recipe.microbatch):
        raise ConfigError(f"recipe.ghost_batch={ghost} is larger than the microbatch that it should cut up")
    if recipe.microbatch == AUTO:
        # Two microbatches even for a small batch, so that two workers can share any batch but a single example.
        count = min(examples, max(2, -(-examples // _AUTO_MICROBATCH)))
        microbatch = -(-examples // count)
        return Batch(examples, microbatch if ghost is None else min(examples, -(-microbatch // ghost) * ghost))
    if recipe.microbatch > examples:
        raise ConfigError(
            f"recipe.microbatch={recipe.microbatch} is larger than recipe.global_batch={examples}; "
            f"use at most {examples}, or auto"
        )
    return Batch(examples, recipe.microbatch)
