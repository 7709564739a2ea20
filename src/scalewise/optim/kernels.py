"""Every function of torch that is not public, in one place: a new version of torch is checked here and nowhere else.

Multi-tensor functions do to lists of tensors in one call what a loop would do in one call each; torch's own optimizers
are made of them.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm as AnyBatchNorm
from torch.utils._pytree import tree_map_only

__all__ = [
    "AnyBatchNorm",
    "adamw",
    "add_all",
    "addcmul_all",
    "buffers_of",
    "copy_all",
    "divided",
    "draw_as_uncompiled",
    "failed_to_compile",
    "in_backward",
    "lerp_all",
    "map_tensors",
    "multiply_all",
    "norms",
]

copy_all = torch._foreach_copy_
add_all = torch._foreach_add_
multiply_all = torch._foreach_mul_
lerp_all = torch._foreach_lerp_
addcmul_all = torch._foreach_addcmul_
divided = torch._foreach_div
norms = torch._foreach_norm
adamw = torch._fused_adamw_


def map_tensors(function: Callable[[Tensor], Tensor], tree: Any) -> Any:
    """Apply a function to all tensors of whatever a network returns."""
    return tree_map_only(Tensor, function, tree)


def buffers_of(module: nn.Module) -> dict[str, Any]:
    """Return a module's own buffers, to be read and set: much faster than as its attributes."""
    return module._buffers


def in_backward() -> bool:
    """Say whether gradients are being taken, so that what is computed now is computed for the second time."""
    return not torch.compiler.is_compiling() and torch._C._current_graph_task_id() != -1


def draw_as_uncompiled() -> None:
    """Let compiled networks draw the random numbers that they would draw uncompiled."""
    import torch._inductor.config as inductor  # takes seconds

    inductor.fallback_random = True


def failed_to_compile(error: Exception) -> bool:
    """Say whether an error is that a network cannot be compiled."""
    return isinstance(error, torch._dynamo.exc.TorchDynamoException)
