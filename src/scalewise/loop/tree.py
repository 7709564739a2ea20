"""Adds up the microbatches of a step in one fixed order, so that the sum has the same bits on any number of workers.

The sum is a binary tree over the microbatches of the step, whoever computed them: node (level, place) covers the
microbatches [place * 2^level, (place + 1) * 2^level). A worker adds up the largest whole nodes within its share; then
every worker gets one slice of all nodes, finishes the tree for its slice, and the slices are put together. For an even
share that sends as much as an all-reduce does. Why a tree and not sums of fixed-point integers, which need no order:
integers need the range of the gradients before the first addition, twice the bytes, and a rounding of their own; the
tree also carries combinations that are not additions, such as Adasum.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from scalewise.cluster.collectives import exchange_slices, gather_slices
from scalewise.cluster.world import World
from scalewise.loop.total import Total
from scalewise.optim.flat import Layout, aligned
from scalewise.optim.kernels import copy_all
from scalewise.recipe.batch import Batch


class Node(NamedTuple):
    """A node of the tree over microbatches."""

    level: int
    place: int

    @property
    def first(self) -> int:
        """The first microbatch below this node."""
        return self.place << self.level

    @property
    def parent(self) -> "Node":
        """The node above."""
        return Node(self.level + 1, self.place // 2)

    @property
    def children(self) -> tuple["Node", "Node"]:
        """The two nodes below."""
        return Node(self.level - 1, 2 * self.place), Node(self.level - 1, 2 * self.place + 1)


def whole_nodes(share: range) -> list[Node]:
    """Return the largest nodes that cover a share of neighbouring microbatches.

    >>> whole_nodes(range(1, 4))
    [Node(level=0, place=1), Node(level=1, place=1)]
    """
    nodes: list[Node] = []
    for microbatch in share:
        nodes.append(Node(0, microbatch))
        while completes_a_pair(nodes):
            nodes[-2:] = [nodes[-1].parent]
    return nodes


def completes_a_pair(nodes: Sequence[Node]) -> bool:
    """Say whether the last two nodes are the two children of one parent."""
    return len(nodes) > 1 and nodes[-1].place % 2 == 1 and nodes[-2] == (nodes[-1].level, nodes[-1].place - 1)


def combined(
    node: Node, microbatches: int, known: Mapping[Node, Tensor], combine: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """Combine everything below a node, stopping at known nodes; `combine` may overwrite its first argument."""
    if node in known:
        return known[node]
    left, right = node.children
    left_value = combined(left, microbatches, known, combine)
    if right.first >= microbatches:
        return left_value
    return combine(left_value, combined(right, microbatches, known, combine))


def root(microbatches: int) -> Node:
    """Return the node above all microbatches."""
    return Node((microbatches - 1).bit_length(), 0)


class Leaf(NamedTuple):
    """A vector and its pieces."""

    vector: Tensor
    pieces: list[Tensor]


class TreeTotal(Total):
    """The exact sum."""

    def __init__(self, layout: Layout, device: torch.device, batch: Batch, world: World) -> None:
        length = layout.offsets[-1]
        self._slice = aligned(-(-length // world.workers))
        self._padded = torch.zeros(self._slice * world.workers, device=device)
        self._layout, self._microbatches = layout, batch.microbatches
        self._nodes = [whole_nodes(batch.share(worker, world.workers)) for worker in range(world.workers)]
        self._mine: list[tuple[Node, Leaf]] = []
        self._spare: list[Leaf] = []
        self.vector = self._padded[:length]
        self.pieces = layout.views(self.vector)

    def add(self, microbatch: int, contribution: list[Tensor]) -> None:
        """Add one microbatch to the nodes of this worker, and complete the nodes it completes."""
        leaf = self._spare.pop() if self._spare else self._new_leaf()
        copy_all(leaf.pieces[: len(contribution)], contribution)
        self._mine.append((Node(0, microbatch), leaf))
        while completes_a_pair([node for node, _ in self._mine]):
            (node, right), (_, left) = self._mine.pop(), self._mine.pop()
            self._combine(left.vector, right.vector)
            self._mine.append((node.parent, left))
            self._spare.append(right)

    def _combine(self, left: Tensor, right: Tensor) -> Tensor:
        """Make one node of two neighbours, in the place of the first."""
        return left.add_(right)

    def _new_leaf(self) -> Leaf:
        vector = torch.zeros_like(self._padded)
        return Leaf(vector, self._layout.views(vector))

    def finish(self) -> None:
        """Share out slices of all workers' nodes, finish the tree in each slice, put the slices together."""
        sent = [
            torch.cat([leaf.vector[start : start + self._slice] for _, leaf in self._mine])
            for start in range(0, len(self._padded), self._slice)
        ]
        received = exchange_slices(sent, [self._slice * len(nodes) for nodes in self._nodes])
        sums: dict[Node, Tensor] = {}
        for nodes, values in zip(self._nodes, received, strict=True):
            sums.update(zip(nodes, values.split(self._slice), strict=True))
        gather_slices(self._padded, combined(root(self._microbatches), self._microbatches, sums, self._combine))
        self._give_back()

    def _give_back(self) -> None:
        """Keep the leaves for the next step."""
        self._spare += [leaf for _, leaf in self._mine]
        self._mine.clear()
