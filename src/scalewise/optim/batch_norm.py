"""Batch normalisation that does not depend on the number of workers.

Every microbatch, or every ghost batch of a fixed size inside it, is normalised by its own statistics. The running
statistics, which evaluation uses, are those of the whole global batch: each microbatch adds its moments to one vector,
the vector is summed over microbatches and workers together with the gradients, and the running statistics move once
per step.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from scalewise.errors import ConfigError
from scalewise.optim.kernels import AnyBatchNorm, buffers_of, in_backward

STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""What a layer keeps for evaluation."""


class MicrobatchNorm(AnyBatchNorm):
    """Stands in front of a layer's own class, whose forward does everything but keep the running statistics.

    It has no methods but `forward`, and no attributes but those that begin with its name: a layer may have any others.
    """

    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    momentum: float
    microbatch_norm_ghost_batch: int | None = None
    microbatch_norm_sums: tuple[Tensor, ...]
    """Where the moments of this layer are added up: three rows of channels, a part of `Moments.sums`."""

    def forward(self, input: Tensor, *more: Any, **named: Any) -> Any:  # noqa: A002 - torch calls it so
        """Normalise by the microbatch in training, by the running statistics in evaluation."""
        own_forward = super().forward
        if not self.training:
            return own_forward(input, *more, **named)
        ghosts = ghost_batches(input, self.microbatch_norm_ghost_batch)
        outputs = [_normalised(self, own_forward, part, *more, **named) for part in ghosts]
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs)


@functools.cache
def microbatch_class(own_class: type[AnyBatchNorm]) -> type[MicrobatchNorm]:
    """Return the class of a layer that `MicrobatchNorm` stands in front of.

    >>> [cls.__name__ for cls in microbatch_class(torch.nn.BatchNorm2d).__mro__[:3]]
    ['MicrobatchBatchNorm2d', 'MicrobatchNorm', 'BatchNorm2d']
    """
    return type(f"Microbatch{own_class.__name__}", (MicrobatchNorm, own_class), {"__module__": own_class.__module__})


def _normalised(
    layer: MicrobatchNorm, own_forward: Callable[..., Any], inputs: Tensor, *more: Any, **named: Any
) -> Any:
    """Let a layer normalise by the inputs' own statistics, and add up those instead of moving the running ones."""
    values = inputs.numel() // layer.num_features
    if values < 2:
        raise ConfigError("batch normalisation needs at least 2 values per channel: use a larger recipe.microbatch")
    buffers, attributes = buffers_of(layer), vars(layer)
    mean, variance, tracked = (buffers[name] for name in STATISTICS)
    momentum = attributes["momentum"]
    # With momentum 1 the "running" statistics are afterwards exactly those of these inputs.
    buffers.update(
        running_mean=torch.zeros_like(mean), running_var=torch.zeros_like(variance), num_batches_tracked=None
    )
    attributes["momentum"] = 1.0
    try:
        outputs = own_forward(inputs, *more, **named)
        own_mean, own_variance = buffers["running_mean"].detach(), buffers["running_var"].detach()
    finally:
        buffers.update(running_mean=mean, running_var=variance, num_batches_tracked=tracked)
        attributes["momentum"] = momentum
    if not in_backward():  # a network that saves memory computes some layers again there
        _add_moments(layer.microbatch_norm_sums, values, own_mean - mean, own_variance)
    return outputs


def _add_moments(sums: tuple[Tensor, ...], values: int, shift: Tensor, variance: Tensor) -> None:
    """Add count, sum and sum of squares, taken around the running mean: around zero they would lose digits."""
    count, total, squares = sums
    count += values
    total += values * shift
    squares += (values - 1) * variance + values * shift**2


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

    def __init__(self, layers: Sequence[MicrobatchNorm]) -> None:
        channels = [layer.num_features for layer in layers]
        self._momentum = torch.cat([torch.full_like(layer.running_mean, layer.momentum) for layer in layers])
        self._mean = torch.cat([layer.running_mean for layer in layers])
        self._variance = torch.cat([layer.running_var for layer in layers])
        self._tracked = torch.stack([layer.num_batches_tracked for layer in layers])
        first_channels = itertools.accumulate(channels[:-1], initial=0)
        self._first_channels = torch.tensor(list(first_channels), device=self._mean.device)
        self.sums = torch.zeros(3, len(self._mean), device=self._mean.device)
        parts = (self._mean.split(channels), self._variance.split(channels), self.sums.split(channels, dim=1))
        for layer, tracked, mean, variance, sums in zip(layers, self._tracked, *parts, strict=True):
            layer.running_mean, layer.running_var, layer.num_batches_tracked = mean, variance, tracked
            layer.microbatch_norm_sums = tuple(sums)

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
        self._tracked += used[self._first_channels]
