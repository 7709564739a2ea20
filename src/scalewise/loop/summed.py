"""Names the pieces of the one vector that a step sums up over microbatches and workers."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from scalewise.loop.votes import Votes
from scalewise.optim.batch_norm import Moments
from scalewise.optim.flat import FlatWeights, Layout, layout_with


@dataclass(frozen=True)
class Summed:
    """Views of the total, behind the gradients."""

    moments: Tensor | None
    weight: Tensor | None
    """The mean weight of the examples; None where each weighs 1."""
    loss: Tensor
    """The summed loss over the global batch: the mean loss, where each example weighs 1."""
    votes: Tensor
    squares: Tensor
    """Of the microbatches' gradients; last, because only a noise meter gives any."""

    @classmethod
    def layout(cls, weights: FlatWeights, moments: Moments | None, weighted: bool) -> Layout:
        """Return the layout of the vector."""
        scalars: list[Sequence[int]] = [()] if weighted else []
        return layout_with(
            weights, *([moments.sums.shape] if moments is not None else []), *scalars, (), (len(Votes()),), ()
        )

    @classmethod
    def of(cls, pieces: Sequence[Tensor], weights: FlatWeights, moments: Moments | None, weighted: bool) -> "Summed":
        """Name the pieces of a vector of that layout."""
        *rest, loss, votes, squares = pieces[len(weights.parameters) :]
        weight = rest.pop() if weighted else None
        return cls(rest.pop() if moments is not None else None, weight, loss, votes, squares)
