"""Keeps all weights in one vector, so that a step sums, sends and updates one tensor instead of hundreds."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

# Every piece starts at a multiple of 64 bytes: kernels are faster there, and some round differently elsewhere.
_ALIGNMENT = 16


def aligned(length: int) -> int:
    """Round a length up so that what comes behind it starts at an aligned place."""
    return -(-length // _ALIGNMENT) * _ALIGNMENT


@dataclass(frozen=True)
class Layout:
    """Where pieces of given shapes lie in a vector of float32."""

    shapes: tuple[torch.Size, ...]
    channels_last: frozenset[int] = frozenset()
    """Which pieces are filters that have their channels last, which mostly convolves faster."""

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
        return [self._view(vector[start:], piece) for piece, start in enumerate(self.offsets[:-1])]

    def _view(self, rest: Tensor, piece: int) -> Tensor:
        shape = self.shapes[piece]
        flat = rest[: shape.numel()]
        return _with_channels_last(flat, shape) if piece in self.channels_last else flat.view(shape)


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
    ordered = sorted(trainable, key=lambda pair: not is_decayed(pair[1]))
    names, parameters = [name for name, _ in ordered], [parameter for _, parameter in ordered]
    filters = _filters(model) if channels_last else set()
    last = frozenset(piece for piece, parameter in enumerate(parameters) if parameter in filters)
    layout = Layout(tuple(parameter.shape for parameter in parameters), last)
    vector = torch.zeros(layout.offsets[-1], device=parameters[0].device)
    for parameter, view in zip(parameters, layout.views(vector), strict=True):
        view.copy_(parameter.data)
        parameter.data = view
    return FlatWeights(names, parameters, layout, vector, layout.offsets[sum(map(is_decayed, parameters))])


def _filters(model: nn.Module) -> set[nn.Parameter]:
    """Find the filters of torch's own convolutions: other code may need its parameters contiguous."""
    kinds = (nn.Conv2d, nn.ConvTranspose2d)
    plain = (module for module in model.modules() if any(type(module).forward is kind.forward for kind in kinds))
    return {parameter for module in plain for parameter in module.parameters(recurse=False) if parameter.ndim == 4}


def layout_with(weights: FlatWeights, *extra: Sequence[int]) -> Layout:
    """Return the layout of a vector that holds the gradients and some extra pieces behind them."""
    return Layout((*weights.layout.shapes, *map(torch.Size, extra)), weights.layout.channels_last)
