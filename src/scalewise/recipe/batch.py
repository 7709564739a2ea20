"""The arithmetic of a batch: a global batch is cut into microbatches, and workers share the microbatches out."""

from dataclasses import dataclass

from scalewise.errors import ConfigError
from scalewise.recipe.resolve import ResolvedRecipe


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
            smaller = f" or a microbatch of {need}" if -(-self.examples // need) >= workers else ""
            raise ConfigError(
                f"global batch {self.examples} gives {count} microbatch{'es' * (count > 1)} of {self.microbatch}: "
                f"they cannot feed {workers} workers; use at most {count} worker{'s' * (count > 1)}{smaller}"
            )
        return range(worker * count // workers, (worker + 1) * count // workers)


def batch_of(recipe: ResolvedRecipe) -> Batch:
    """Cut the recipe's global batch."""
    return Batch(recipe.global_batch, recipe.microbatch)
