"""Makes the summed gradients of a step ready for the optimizer: a mean, without the loss scale, checked, clipped."""

import torch
from torch import Tensor

from scalewise.optim.precision import LossScale


class Gradients:
    """The gradients that the optimizer reads, in `vector`.

    Where nothing is done to them they are the summed ones themselves. Otherwise they are a copy, because the sum may
    lie in memory that other workers still read.
    """

    def __init__(
        self, summed: Tensor, loss_scale: LossScale | None, clip_norm: float | None, weight: Tensor | None = None
    ) -> None:
        self.summed, self._loss_scale, self._clip_norm = summed, loss_scale, clip_norm
        self._weight = weight
        """The mean weight of the step's examples, which is known only when all are summed; None: each weighs 1."""
        self._changed = loss_scale is not None or clip_norm is not None or weight is not None
        self.vector = torch.zeros_like(summed) if self._changed else summed

    @property
    def mean_weight(self) -> float:
        """What an example of this step weighs; a step in which nothing weighs anything has gradients of zero."""
        return 1.0 if self._weight is None else self._weight.item() or 1.0

    def make_ready(self) -> bool:
        """Fill `vector` from the sum; False when the sum overflowed and must not be used."""
        if not self._changed:
            return True
        norm = float(torch.linalg.vector_norm(self.summed))
        if self._loss_scale is not None and not norm < float("inf"):
            return False
        factor = 1.0 if self._loss_scale is None else 1.0 / self._loss_scale.value
        factor /= self.mean_weight
        if self._clip_norm is not None and norm * factor > self._clip_norm:
            factor *= self._clip_norm / (norm * factor)
        torch.mul(self.summed, factor, out=self.vector)
        return True
