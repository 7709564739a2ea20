"""Keeps all weights in one vector, so that a step sums, sends and updates one tensor instead of hundreds."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from scalewise.errors import WorkloadError

# Every piece starts at a multiple of 64 bytes: kernels are faster there, and some round differently elsewhere.
_ALIGNMENT = 16


def aligned(length: int) -> int:
    """Round a length up so that what comes behind it starts at an aligned place."""
    return -(-length // _ALIGNMENT) * _ALIGNMENT


@dataclass(frozen=True)
class Layout:
    """Where pieces of given shapes lie in a vector of float32."""

    shapes: tuple[torch.Size, ...]
    channels_last: bool = True
    """Whether filters have their channels last, which mostly convolves faster."""

    @functools.cached_property
    def offsets(self) -> list[int]:
        """Where each piece begins, and, last, the length of the whole vector.

        >>> Layout((torch.Size([3]), torch.Size([4, 5]))).offsets
        [0, 16, 48]
        """
        lengths = (aligned(shape.numel()) for shape in self.shapes)
        return list(itertools.accumulate(lengths, initial=0))

    def views(self, vector: Tensor) -> list[Tensor]:
        """Return each piece as a view of a vector."""
        starts = zip(self.offsets, self.shapes, strict=False)
        return [self._shaped(vector[start : start + shape.numel()], shape) for start, shape in starts]

    def _shaped(self, flat: Tensor, shape: torch.Size) -> Tensor:
        return _with_channels_last(flat, shape) if self.channels_last and len(shape) == 4 else flat.view(shape)


def _with_channels_last(flat: Tensor, shape: torch.Size) -> Tensor:
    filters, channels, height, width = shape
    return flat.view(filters, height, width, channels).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class FlatWeights:
    """The trainable parameters of a network as views of one vector: decayed ones first, then the exempt."""

    names: list[str]
    parameters: list[nn.Parameter]
    layout: Layout
    vector: Tensor
    exempt_from: int
    """Where in the vector the parameters begin that weight decay leaves out."""

    def by_name(self, vector: Tensor) -> dict[str, Tensor]:
        """Cut a vector of the same layout into the parameters' pieces."""
        return dict(zip(self.names, self.layout.views(vector), strict=True))


def is_decayed(parameter: Tensor) -> bool:
    """Say whether weight decay applies: to matrices and filters, not to biases and normalisation parameters."""
    return parameter.ndim > 1


def flatten(model: nn.Module, channels_last: bool = True) -> FlatWeights:
    """Move the trainable parameters of a network into one vector."""
    trainable = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    if not trainable:
        raise WorkloadError("the workload's model has no trainable parameters")
    if odd := [name for name, parameter in trainable if parameter.dtype != torch.float32]:
        raise WorkloadError(f"the workload's model must have float32 parameters; {odd[0]} has not")
    ordered = sorted(trainable, key=lambda pair: not is_decayed(pair[1]))
    names, parameters = [name for name, _ in ordered], [parameter for _, parameter in ordered]
    layout = Layout(tuple(parameter.shape for parameter in parameters), channels_last)
    vector = torch.zeros(layout.offsets[-1], device=parameters[0].device)
    for parameter, view in zip(parameters, layout.views(vector), strict=True):
        view.copy_(parameter.data)
        parameter.data = view
    return FlatWeights(names, parameters, layout, vector, layout.offsets[sum(map(is_decayed, parameters))])


def layout_with(weights: FlatWeights, *extra: Sequence[int]) -> Layout:
    """Return the layout of a vector that holds the gradients and some extra pieces behind them."""
    return Layout((*weights.layout.shapes, *map(torch.Size, extra)), weights.layout.channels_last)
