"""Makes the summed gradients of a step ready for the optimizer: divided by the loss scale, checked, clipped."""

import torch
from torch import Tensor

from scalewise.optim.precision import LossScale


class Gradients:
    """The gradients that the optimizer reads, in `vector`.

    Where nothing is done to them they are the summed ones themselves. Otherwise they are a copy, because the sum may
    lie in memory that other workers still read.
    """

    def __init__(self, summed: Tensor, loss_scale: LossScale | None, clip_norm: float | None) -> None:
        self.summed, self._loss_scale, self._clip_norm = summed, loss_scale, clip_norm
        self._changed = loss_scale is not None or clip_norm is not None
        self.vector = torch.zeros_like(summed) if self._changed else summed

    def make_ready(self) -> bool:
        """Fill `vector` from the sum; False when the sum overflowed and must not be used."""
        if not self._changed:
            return True
        norm = float(torch.linalg.vector_norm(self.summed))
        if self._loss_scale is not None and not norm < float("inf"):
            return False
        factor = 1.0 if self._loss_scale is None else 1.0 / self._loss_scale.value
        if self._clip_norm is not None and norm * factor > self._clip_norm:
            factor *= self._clip_norm / (norm * factor)
        torch.mul(self.summed, factor, out=self.vector)
        return True
