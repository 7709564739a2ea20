"""Compiles a network by torch.compile."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from scalewise.optim.kernels import draw_as_uncompiled


def compiled(network: nn.Module) -> Callable[[Tensor], Any]:
    """Return the compiled network; it draws the same random numbers as uncompiled."""
    draw_as_uncompiled()
    return torch.compile(network, dynamic=False)
