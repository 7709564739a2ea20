"""Batch normalisation that does not depend on the number of workers.

Every microbatch, or every ghost batch of a fixed size inside it, is normalised by its own statistics. The running
statistics, which evaluation uses, are those of the whole global batch: each microbatch adds its moments to one vector,
the vector is summed over microbatches and workers together with the gradients, and the running statistics move once
per step.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scalewise.errors import ConfigError
from scalewise.optim.kernels import AnyBatchNorm


class MicrobatchNorm(nn.Module):
    """Replaces a `BatchNorm` layer under the same names, so that its state loads into the original."""

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(self, original: AnyBatchNorm) -> None:
        super().__init__()
        self.ghost_batch: int | None = None
        self.weight, self.bias = original.weight, original.bias
        self.channels, self.eps = original.num_features, original.eps
        for name, buffer in original.named_buffers():
            self.register_buffer(name, buffer)
        self.sums: Tensor | None = None
        """Where the moments of this layer are added up: three rows of channels, a part of `Moments.sums`."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Normalise by the microbatch in training, by the running statistics in evaluation."""
        if not self.training:
            return F.batch_norm(inputs, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        ghosts = ghost_batches(inputs, self.ghost_batch)
        return self._normalised(inputs) if len(ghosts) == 1 else torch.cat([self._normalised(part) for part in ghosts])

    def _normalised(self, inputs: Tensor) -> Tensor:
        """Normalise by the inputs' own statistics, and remember those."""
        values = inputs.numel() // self.channels
        if values < 2:
            raise ConfigError("batch normalisation needs at least 2 values per channel: use a larger recipe.microbatch")
        # With momentum 1 the kernel's "running" statistics are exactly those of these inputs.
        mean, variance = torch.zeros_like(self.running_mean), torch.zeros_like(self.running_var)
        outputs = F.batch_norm(
            inputs, mean, variance, self.weight, self.bias, training=True, momentum=1.0, eps=self.eps
        )
        self._add_moments(values, mean - self.running_mean, variance)
        return outputs

    def _add_moments(self, values: int, shift: Tensor, variance: Tensor) -> None:
        """Add count, sum and sum of squares, taken around the running mean: around zero they would lose digits."""
        assert self.sums is not None
        self.sums[0] += values
        self.sums[1] += values * shift
        self.sums[2] += (values - 1) * variance + values * shift**2


def ghost_batches(inputs: Tensor, size: int | None) -> list[Tensor]:
    """Cut a microbatch; the last ghost batch may be smaller, but a single example is added to the one before it.

    >>> [len(part) for part in ghost_batches(torch.zeros(10, 3), 4)]
    [4, 4, 2]
    >>> [len(part) for part in ghost_batches(torch.zeros(9, 3), 4)]
    [4, 5]
    """
    if size is None or len(inputs) <= size + 1:
        return [inputs]
    sizes = [size] * (len(inputs) // size)
    if (remainder := len(inputs) % size) > 1:
        sizes.append(remainder)
    else:
        sizes[-1] += remainder
    return list(inputs.split(sizes))


class Moments:
    """The moments of all normalisation layers of a network, and the running statistics that they move."""

    def __init__(self, layers: list[MicrobatchNorm], momentum: Tensor) -> None:
        channels = [layer.channels for layer in layers]
        self._layers, self._momentum = layers, momentum
        self._mean = torch.cat([layer.running_mean for layer in layers])
        self._variance = torch.cat([layer.running_var for layer in layers])
        self.sums = torch.zeros(3, len(momentum), device=momentum.device)
        parts = (self._mean.split(channels), self._variance.split(channels), self.sums.split(channels, dim=1))
        for layer, mean, variance, sums in zip(layers, *parts, strict=True):
            layer.running_mean, layer.running_var, layer.sums = mean, variance, sums

    @property
    def statistics(self) -> list[Tensor]:
        """The running statistics of all layers."""
        return [self._mean, self._variance]

    def clear(self) -> None:
        """Forget the moments of the last microbatch."""
        self.sums.zero_()

    def move_running_statistics(self, totals: Tensor) -> None:
        """Move the running statistics by the moments of the whole global batch."""
        count, total, squares = totals
        used = count > 1  # a layer that the network skipped in this step keeps its statistics
        shift = total / count.clamp(min=1)
        variance = (squares - count * shift**2) / (count - 1).clamp(min=1)
        step = torch.where(used, self._momentum, 0.0)
        self._variance.add_(step * (variance - self._variance))
        self._mean.add_(step * shift)
        for layer in self._layers:
            layer.num_batches_tracked += 1
