"""How workers agree to stop without a message of its own: their votes travel with the gradients."""

from typing import NamedTuple

import torch
from torch import Tensor


class Votes(NamedTuple):
    """What a worker wants after this step; one vote is enough, and all workers learn of it in the same step."""

    interrupt: bool = False
    out_of_time: bool = False


class Ballot:
    """A worker's votes as numbers that can be added up, on its device; written only when they change: hardly ever."""

    def __init__(self, device: torch.device) -> None:
        self._votes = Votes()
        self._numbers = torch.zeros(len(self._votes), device=device)

    def cast(self, votes: Votes) -> Tensor:
        """Return the votes as numbers."""
        if votes != self._votes:
            self._votes = votes
            self._numbers.copy_(torch.tensor(votes))
        return self._numbers
