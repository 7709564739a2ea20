"""Combines the microbatches' gradients by Adasum, pairwise up the same fixed tree as the exact sum.

Maleki et al. 2021, arXiv:2006.02924.

Adasum of two gradients a and b is (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b, layer by layer: their sum where they are
at right angles, their mean where they are the same. What is combined are the mean gradients of the microbatches;
moments, loss and votes are added up as ever. Products of whole layers cannot be taken slice by slice, so every worker
gets all nodes and finishes the tree itself.
"""

import torch
from torch import Tensor

from scalewise.cluster.collectives import exchange_slices
from scalewise.cluster.world import World
from scalewise.loop.tree import Node, TreeTotal, combined, root
from scalewise.optim.flat import FlatWeights, Layout
from scalewise.optim.kernels import divided
from scalewise.recipe.batch import Batch


class AdasumTotal(TreeTotal):
    """The gradients by Adasum, everything else by addition."""

    def __init__(self, layout: Layout, weights: FlatWeights, device: torch.device, batch: Batch, world: World) -> None:
        super().__init__(layout, device, batch, world)
        self._batch, self._gradients = batch, len(weights.vector)
        starts = zip(weights.layout.offsets, weights.layout.shapes, strict=False)
        self._layers = [slice(start, start + shape.numel()) for start, shape in starts]

    def add(self, microbatch: int, contribution: list[Tensor]) -> None:
        """Take the mean gradient of one microbatch; it came as the microbatch's part of the whole mean."""
        share = self._batch.size(microbatch) / self._batch.examples
        gradients, rest = contribution[: len(self._layers)], contribution[len(self._layers) :]
        super().add(microbatch, [*divided(gradients, share), *rest])

    def _combine(self, left: Tensor, right: Tensor) -> Tensor:
        for layer in self._layers:
            a, b = left[layer], right[layer]
            dot, a_square, b_square = torch.dot(a, b), torch.dot(a, a), torch.dot(b, b)
            a.mul_(1 - _ratio(dot, a_square)).add_(b * (1 - _ratio(dot, b_square)))
        left[self._gradients :] += right[self._gradients :]
        return left

    def finish(self) -> None:
        """Let every worker have all nodes, and finish the tree."""
        mine = torch.cat([leaf.vector for _, leaf in self._mine])
        received = exchange_slices([mine] * len(self._nodes), [len(self._padded) * len(nodes) for nodes in self._nodes])
        known: dict[Node, Tensor] = {}
        for nodes, values in zip(self._nodes, received, strict=True):
            known.update(zip(nodes, values.split(len(self._padded)), strict=True))
        self._padded.copy_(combined(root(self._microbatches), self._microbatches, known, self._combine))
        self._give_back()


def _ratio(dot: Tensor, square: Tensor) -> Tensor:
    return torch.where(square > 0, dot / (2 * square), 0.0)
