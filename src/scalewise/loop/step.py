"""One step: one optimizer update on one global batch. The first file to read.

Each worker puts its share of the step's microbatches through the network, one after the other. What every microbatch
gives (its gradients and a few numbers) is added up over microbatches and workers, and then every worker makes the same
update. Nothing here depends on how many workers there are, except who computes which microbatch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from scalewise.data.order import ExampleOrder
from scalewise.data.splits import Split
from scalewise.loop.state import TrainingState
from scalewise.loop.total import Total
from scalewise.recipe.batch import Batch
from scalewise.recipe.batch_norm import Moments
from scalewise.recipe.randomness import seed_microbatch


@dataclass(frozen=True)
class Parts:
    """Everything a step needs, built once."""

    state: TrainingState
    examples: Split
    order: ExampleOrder
    batch: Batch
    share: range
    """The microbatches of each step that this worker computes."""
    loss: Callable[[Tensor, Tensor], Tensor]
    """The summed loss of a microbatch."""
    learning_rate: Callable[[int], float]
    moments: Moments | None
    total: Total
    seed: int


class Votes(NamedTuple):
    """What a worker wants after this step; one vote is enough, and all workers learn of it in the same step."""

    interrupt: bool = False
    out_of_time: bool = False

    def tensor(self) -> Tensor:
        """Return the votes as numbers that can be added up."""
        return torch.tensor([self.interrupt, self.out_of_time], dtype=torch.float32) if any(self) else _NO_VOTES


_NO_VOTES, _NO_MOMENTS = torch.zeros(2), torch.zeros(0)


@dataclass(frozen=True)
class StepOutcome:
    """What all workers know after a step."""

    loss: float
    learning_rate: float
    votes: Votes


def take_step(parts: Parts, votes: Callable[[], Votes]) -> StepOutcome:
    """Train on the next global batch."""
    state = parts.state
    for microbatch in parts.share:
        parts.total.add(microbatch, [*_gradients_and_loss(parts, microbatch), votes().tensor()])
    parts.total.finish()
    *_, moments, loss, all_votes = parts.total.pieces
    if parts.moments is not None:
        parts.moments.move_running_statistics(moments)
    rate = parts.learning_rate(state.step)
    state.optimizer.step(rate)
    state.step += 1
    return StepOutcome(loss.item(), rate, Votes(*(votes > 0 for votes in all_votes.tolist())))


def _gradients_and_loss(parts: Parts, microbatch: int) -> list[Tensor]:
    """Put one microbatch through the network: its part of the gradients, of the moments and of the mean loss."""
    state = parts.state
    position = parts.batch.position(state.step, microbatch)
    examples = parts.examples.take(parts.order.indices(position, parts.batch.size(microbatch)))
    seed_microbatch(parts.seed, state.step, microbatch, examples.inputs.device)
    if parts.moments is not None:
        parts.moments.clear()
    # Each example weighs 1 / global batch, whatever its microbatch: the last microbatch may be smaller.
    loss = parts.loss(state.model(examples.inputs), examples.targets) / parts.batch.examples
    gradients = torch.autograd.grad(loss, state.weights.parameters, materialize_grads=True)
    moments = parts.moments.sums if parts.moments is not None else _NO_MOMENTS
    return [*gradients, moments, loss.detach()]
