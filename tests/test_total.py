"""The exact sum does not depend on who computed what."""

import itertools

import torch
from torch import Tensor

from scalewise.cluster.world import World
from scalewise.loop.tree import Node, TreeTotal, combined, root, whole_nodes
from scalewise.optim.flat import Layout
from scalewise.recipe.batch import Batch


def sum_in_shares(leaves: list[Tensor], cuts: list[int]) -> Tensor:
    """Add up as workers would whose shares are cut at the given microbatches."""
    known: dict[Node, Tensor] = {}
    for start, stop in itertools.pairwise([0, *cuts, len(leaves)]):
        for node in whole_nodes(range(start, stop)):
            last = min(node.first + (1 << node.level), len(leaves))
            leaf_nodes = {Node(0, index): leaves[index] for index in range(node.first, last)}
            known[node] = combined(node, len(leaves), leaf_nodes, torch.add)
    return combined(root(len(leaves)), len(leaves), known, torch.add)


def test_every_way_to_share_out_gives_the_same_bits() -> None:
    generator = torch.Generator().manual_seed(0)
    for count in (1, 2, 3, 5, 7, 8, 11):
        leaves = list(torch.randn(count, 50, generator=generator) * 10.0 ** torch.randint(-6, 6, (count, 1)))
        expected = sum_in_shares(leaves, [])
        for size in range(count):
            for cuts in itertools.combinations(range(1, count), size):
                assert torch.equal(sum_in_shares(leaves, list(cuts)), expected)
        assert torch.allclose(expected.double(), torch.stack(leaves).double().sum(dim=0), rtol=1e-5, atol=1e-3)


def test_a_plain_running_sum_would_depend_on_the_shares() -> None:
    """The test above can fail: ordinary sums do."""
    leaves = list(torch.randn(8, 500, generator=torch.Generator().manual_seed(0)))
    one_worker = sum(leaves[1:], leaves[0])
    two_workers = sum(leaves[1:4], leaves[0]) + sum(leaves[5:], leaves[4])
    assert not torch.equal(one_worker, two_workers)


def test_the_tree_of_one_worker_needs_few_buffers() -> None:
    batch = Batch(examples=64, microbatch=1)
    total = TreeTotal(Layout((torch.Size([3]),)), torch.device("cpu"), batch, World())
    for step in range(2):
        for microbatch in range(64):
            total.add(microbatch, [torch.full((3,), float(microbatch + step))])
        total.finish()
        assert total.pieces[0].tolist() == [sum(range(64)) + 64.0 * step] * 3
    assert len(total._spare) <= 7  # log2(64) + 1


def test_whole_nodes_cover_a_share_once() -> None:
    for start, stop in itertools.combinations(range(20), 2):
        covered = [
            i for node in whole_nodes(range(start, stop)) for i in range(node.first, node.first + (1 << node.level))
        ]
        assert covered == list(range(start, stop))
