"""The stream of examples: every example once per epoch, whatever the batch."""

import torch

from scalewise.data.order import ExampleOrder
from scalewise.recipe.batch import Batch


def test_every_example_comes_once_per_epoch() -> None:
    order = ExampleOrder(seed=3, examples=97)
    for epoch in range(3):
        assert order.indices(epoch * 97, 97).sort().values.tolist() == list(range(97))


def test_epochs_and_seeds_differ() -> None:
    order = ExampleOrder(seed=3, examples=97)
    assert not torch.equal(order.indices(0, 97), order.indices(97, 97))
    assert not torch.equal(order.indices(0, 97), ExampleOrder(seed=4, examples=97).indices(0, 97))


def test_batches_run_through_the_epochs_without_a_short_one() -> None:
    order = ExampleOrder(seed=0, examples=10)
    stream = order.indices(0, 40)
    for step in range(10):
        assert order.indices(4 * step, 4).tolist() == stream[4 * step : 4 * step + 4].tolist()
    assert len(order.indices(0, 25)) == 25  # a batch larger than the data set


def test_any_number_of_workers_sees_the_same_examples_in_every_step() -> None:
    order, batch = ExampleOrder(seed=0, examples=1000), Batch(examples=97, microbatch=10)
    for step in (0, 7, 20):
        whole = order.indices(batch.position(step, 0), batch.examples).tolist()
        for workers in (1, 2, 3, 4, 10):
            shares = [batch.share(worker, workers) for worker in range(workers)]
            assert all(len(share) > 0 for share in shares)
            seen = [
                example
                for share in shares
                for index in share
                for example in order.indices(batch.position(step, index), batch.size(index)).tolist()
            ]
            assert seen == whole
