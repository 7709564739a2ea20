"""Compiles a network by torch.compile."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def compiled(network: nn.Module) -> Callable[[Tensor], Any]:
    """Return the network compiled; what it draws at random is what it would draw uncompiled."""
    import torch._inductor.config as inductor  # takes seconds

    inductor.fallback_random = True
    return torch.compile(network, dynamic=False)
