"""How workers agree to stop without a message of its own: their votes travel with the gradients."""

from typing import NamedTuple

import torch
from torch import Tensor

_NO_VOTES = torch.zeros(2)


class Votes(NamedTuple):
    """What a worker wants after this step; one vote is enough, and all workers learn of it in the same step."""

    interrupt: bool = False
    out_of_time: bool = False

    def tensor(self) -> Tensor:
        """Return the votes as numbers that can be added up."""
        return torch.tensor([self.interrupt, self.out_of_time], dtype=torch.float32) if any(self) else _NO_VOTES
