"""Precision: which numbers the network computes with, and what keeps small gradients alive in the narrow ones.

The weights, their gradients' sum and the update are always fp32. Inside the network, bf16 has the range of fp32 and
needs nothing more; fp16 has not: small gradients become zero. So the loss is multiplied by a scale before the gradients
are taken, and the gradients are divided by it before anything else is done with them. Where they overflow all the same,
the step is skipped: nothing moves, and a dynamic scale is halved.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from scalewise.data.trees import Tree, first_leaf
from scalewise.optim.kernels import map_tensors
from scalewise.recipe.resolve import ResolvedRecipe

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
_INITIAL_SCALE = 65536.0
_GROWTH_STEPS = 2000
_FLOOR = 1.0


class LossScale:
    """A static or dynamic loss scale; all that changes is in `state`, so that it is saved and sent like weights."""

    def __init__(self, initial: float, dynamic: bool, growth_steps: int = _GROWTH_STEPS) -> None:
        self.dynamic, self._growth_steps = dynamic, growth_steps
        self.state = torch.tensor([initial, 0.0, 0.0], dtype=torch.float64)

    @property
    def value(self) -> float:
        """What the loss is multiplied by."""
        return float(self.state[0])

    @property
    def skipped_steps(self) -> int:
        """How many steps overflowed."""
        return int(self.state[2])

    @property
    def at_floor(self) -> bool:
        """Whether the scale cannot be the reason for an overflow: it does not get smaller."""
        return not self.dynamic or self.value <= _FLOOR

    def took_step(self) -> None:
        """Count a good step; double a dynamic scale after enough of them in a row."""
        self.state[1] += 1
        if self.dynamic and self.state[1] >= self._growth_steps:
            self.state[0] *= 2
            self.state[1] = 0

    def skipped_step(self) -> None:
        """Count a skipped step; halve a dynamic scale, but not below its floor."""
        if self.dynamic:
            self.state[0] = max(_FLOOR, self.value / 2)
        self.state[1] = 0
        self.state[2] += 1


def make_loss_scale(recipe: ResolvedRecipe) -> LossScale | None:
    """Make the recipe's loss scale; only fp16 has one."""
    if recipe.loss_scale is None:
        return None
    if recipe.loss_scale == "dynamic":
        return LossScale(_INITIAL_SCALE, dynamic=True)
    return LossScale(recipe.loss_scale, dynamic=False)


def put_through(network: Callable[[Tree], Any], inputs: Tree, precision: str) -> Any:
    """Put inputs through a network that computes in a precision; what it puts out in a narrow one becomes fp32."""
    if precision == "fp32":
        return network(inputs)
    with torch.autocast(first_leaf(inputs).device.type, dtype=DTYPES[precision]):
        outputs = network(inputs)
    return map_tensors(_widened, outputs)


def _widened(output: Tensor) -> Tensor:
    return output.float() if output.is_floating_point() else output
