"""Sends gradients while backward still computes others, which hides a slow network behind the arithmetic.

The vector is cut into buckets of neighbouring parameters. Backward reaches the last layers first, so the buckets leave
in the opposite order of the parameters, and the biases, which lie together behind all of them, leave with whatever else
is summed. All workers send in this one order, whatever order their gradients come in.
"""

import functools
from collections.abc import Sequence

from torch import Tensor

from scalewise.cluster.sums import MessageSum
from scalewise.loop.total import RunningTotal
from scalewise.optim.flat import FlatWeights, Layout


class OverlappedTotal(RunningTotal):
    """The fast sum, of which a bucket leaves as soon as the last microbatch has given its gradients."""

    def __init__(
        self, layout: Layout, worker_sum: MessageSum, weights: FlatWeights, share: range, bucket_bytes: float
    ) -> None:
        super().__init__(layout, worker_sum)
        self._messages, self._offsets, self._last_microbatch = worker_sum, layout.offsets, share[-1]
        decayed = layout.offsets.index(weights.exempt_from)
        self._buckets = [*buckets(layout.offsets[: decayed + 1], bucket_bytes), range(decayed, len(layout.shapes))]
        self._arrived: set[int] = set()
        self._sent = 0
        self._sending = False
        for piece, parameter in enumerate(weights.parameters):
            parameter.register_hook(functools.partial(self._take, piece))

    def expect(self, microbatch: int) -> None:
        """Send what the last microbatch gives as it comes."""
        self._sending = microbatch == self._last_microbatch

    def _take(self, piece: int, gradient: Tensor) -> None:
        """Add one gradient, and send the buckets that are now complete."""
        if self._sending:
            self._put([self._own_pieces[piece]], [gradient])
            self._arrived.add(piece)
            while self._arrived.issuperset(self._buckets[self._sent]):  # never the last: it is more than gradients
                self._send_next()

    def _send_next(self) -> None:
        bucket = self._buckets[self._sent]
        self._messages.start(self._offsets[bucket.start], self._offsets[bucket.stop])
        self._sent += 1

    def add(self, microbatch: int, contribution: list[Tensor]) -> None:
        """Add what has not been sent yet; after the last microbatch send it."""
        missing = [piece for piece in range(len(contribution)) if piece not in self._arrived]
        self._put([self._own_pieces[piece] for piece in missing], [contribution[piece] for piece in missing])
        self._empty = False
        if self._sending:
            self._sending = False
            while self._sent < len(self._buckets):
                self._send_next()

    def finish(self) -> None:
        """Wait for what is under way."""
        super().finish()
        self._arrived.clear()
        self._sent = 0


def buckets(offsets: Sequence[int], bucket_bytes: float) -> list[range]:
    """Cut pieces, given by where each begins, into ranges of at least so many bytes, from the last piece to the first.

    >>> buckets([0, 100, 200, 300, 1000], bucket_bytes=800)
    [range(3, 4), range(1, 3), range(0, 1)]
    """
    cut, end = [], len(offsets) - 1
    for piece in reversed(range(len(offsets) - 1)):
        if 4 * (offsets[end] - offsets[piece]) >= bucket_bytes or piece == 0:
            cut.append(range(piece, end))
            end = piece
    return cut
