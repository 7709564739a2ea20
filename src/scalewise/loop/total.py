"""Adds up what the microbatches of one step give: gradients, normalisation moments, the loss and the votes to stop.

All of it lies in one vector, so that one message carries everything the workers must agree on. `RunningTotal` is the
fast way to add: a worker adds its microbatches as they come, and a `WorkerSum` adds the workers; `overlap.py` begins to
send before all is there. The order of the sum, and so its last bits, depend on the number of workers. Ways that do not
depend on it are in `tree.py` and `adasum.py`.
"""

from abc import ABC, abstractmethod

from torch import Tensor

from scalewise.cluster.collectives import wait_for_all
from scalewise.cluster.sums import WorkerSum
from scalewise.optim.flat import Layout
from scalewise.optim.kernels import add_all, copy_all


class Total(ABC):
    """The sum over all microbatches of one step, in `vector`."""

    vector: Tensor
    pieces: list[Tensor]
    """The vector's pieces: one gradient per parameter, then whatever else is summed."""

    def expect(self, microbatch: int) -> None:  # noqa: B027 - most totals need not know
        """Learn which microbatch is computed next."""

    @abstractmethod
    def add(self, microbatch: int, contribution: list[Tensor]) -> None:
        """Take what one microbatch gives, one tensor per piece; last pieces that no microbatch gives stay zero."""

    @abstractmethod
    def finish(self) -> None:
        """Fill `vector` with the sum over all microbatches of all workers."""

    def wait_for_all(self) -> None:
        """Return when every worker has got here, by the same way as the sum."""
        wait_for_all()


class RunningTotal(Total):
    """The fast sum."""

    def __init__(self, layout: Layout, worker_sum: WorkerSum) -> None:
        self.worker_sum = worker_sum
        self._own_pieces = layout.views(worker_sum.own)
        self.vector, self.pieces = worker_sum.total, layout.views(worker_sum.total)
        self._empty = True

    def add(self, microbatch: int, contribution: list[Tensor]) -> None:
        """Add one microbatch to this worker's sum."""
        self._put(self._own_pieces[: len(contribution)], contribution)
        self._empty = False

    def _put(self, own_pieces: list[Tensor], contribution: list[Tensor]) -> None:
        if self._empty:
            copy_all(own_pieces, contribution)
        else:
            add_all(own_pieces, contribution)

    def finish(self) -> None:
        """Add the workers' sums."""
        self.worker_sum.add_up()
        self._empty = True

    def wait_for_all(self) -> None:
        """Return when every worker has got here."""
        self.worker_sum.wait_for_all()
