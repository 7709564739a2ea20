"""Feeds the network: which examples a microbatch holds, and what is done to them on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from scalewise.data.splits import Split
from scalewise.data.trees import Tree
from scalewise.loop.source import ExampleSource
from scalewise.optim.randomness import seed_microbatch
from scalewise.workloads import Workload


class Transform(Protocol):
    """Changes the inputs and targets of a microbatch, by one seed per example and by the step; named in messages."""

    @property
    def changes_at(self) -> Sequence[int]:
        """The steps from which on it gives inputs of another shape."""

    def __call__(self, inputs: Tree, targets: Tree, seeds: Tensor, step: int, /) -> tuple[Tree, Tree]:
        """Return inputs and targets as the network sees them."""


@dataclass(frozen=True)
class OwnTransform:
    """What the workload itself does to its training examples."""

    workload: Workload
    changes_at: Sequence[int] = ()

    def __call__(self, inputs: Tree, targets: Tree, seeds: Tensor, step: int) -> tuple[Tree, Tree]:
        """Return inputs and targets as the network sees them."""
        return self.workload.transform(inputs, targets, seeds)

    def __str__(self) -> str:
        return f"{type(self.workload).__name__}.transform()"


@dataclass(frozen=True)
class Feed:
    """The microbatches of every step: a pure function of (seed, step, microbatch)."""

    source: ExampleSource
    seed: int
    transforms: Sequence[Transform]

    def microbatch(self, step: int, index: int) -> Split:
        """Return the examples, and leave torch's generators seeded for whatever the network draws."""
        chosen = self.source.microbatch(step, index)
        if self.transforms:
            inputs, targets, seeds = chosen.inputs, chosen.targets, self.source.seeds(step, index)
            for transform in self.transforms:
                inputs, targets = transform(inputs, targets, seeds, step)
            chosen = Split(inputs, targets)
        seed_microbatch(self.seed, step, index, self.source.examples.device)
        return chosen
