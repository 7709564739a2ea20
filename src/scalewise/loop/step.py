"""One step: one optimizer update on one global batch. The first file to read.

Each worker puts its share of the step's microbatches through the network, one after the other. What every microbatch
gives (its gradients and a few numbers) is added up over microbatches and workers, and then every worker makes the same
update. Nothing here depends on how many workers there are, except who computes which microbatch.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from scalewise.data.trees import Tree
from scalewise.loop.feed import Feed
from scalewise.loop.loss import LossPart
from scalewise.loop.noise import NoiseMeter, NoiseSample
from scalewise.loop.state import TrainingState
from scalewise.loop.summed import Summed
from scalewise.loop.total import Total
from scalewise.loop.votes import Ballot, Votes
from scalewise.optim.batch_norm import Moments
from scalewise.optim.gradients import Gradients
from scalewise.optim.precision import put_through
from scalewise.recipe.schedules import Schedule


@dataclass(frozen=True)
class Parts:
    """Everything a step needs, built once."""

    state: TrainingState
    network: Callable[[Tree], Any]
    """Puts inputs through the network in training: the state's model, maybe compiled."""
    feed: Feed
    share: range
    """The microbatches of each step that this worker computes."""
    loss: Callable[[Any, Tree], LossPart]
    precision: str
    moments: Moments | None
    total: Total
    summed: Summed
    """The pieces of the total."""
    gradients: Gradients
    schedule: Schedule
    ballot: Ballot
    noise: NoiseMeter | None = None


class StepOutcome(NamedTuple):
    """What all workers know after a step."""

    loss: float
    learning_rate: float
    skipped: bool
    """Whether something overflowed, so that nothing moved."""
    diverged: bool
    votes: Votes
    noise: NoiseSample | None = None


def take_step(parts: Parts, votes: Callable[[], Votes]) -> StepOutcome:
    """Train on the next global batch."""
    state, step = parts.state, parts.state.step
    for microbatch in parts.share:
        parts.total.expect(microbatch)
        parts.total.add(microbatch, contribution(parts, microbatch, votes))
    parts.total.finish()
    summed = parts.summed
    loss, rate = summed.loss.item() / parts.gradients.mean_weight, parts.schedule.learning_rate(step)
    diverged = not math.isfinite(loss) and not state.may_overflow
    if usable := parts.gradients.make_ready() and math.isfinite(loss):
        if parts.moments is not None and summed.moments is not None:
            parts.moments.move_running_statistics(summed.moments)
        state.optimizer.step(rate, parts.schedule.momentum(step), state.updates + 1)
    noise = None
    if parts.noise is not None:
        noise = parts.noise.sample(step, summed.squares, parts.gradients.summed, state.scale, summed.weight)
    state.count_step(taken=usable)
    agreed = Votes(*(votes > 0 for votes in summed.votes.tolist()))
    return StepOutcome(loss, rate, not usable, diverged, agreed, noise)


def contribution(parts: Parts, microbatch: int, votes: Callable[[], Votes]) -> list[Tensor]:
    """Put one microbatch through the network: its part of the gradients and of whatever else is summed."""
    state = parts.state
    examples = parts.feed.microbatch(state.step, microbatch)
    if parts.moments is not None:
        parts.moments.clear()
    outputs = put_through(parts.network, examples.inputs, parts.precision)
    loss, weight = parts.loss(outputs, examples.targets)
    scaled = loss if state.loss_scale is None else loss * state.scale
    gradients = torch.autograd.grad(scaled, state.weights.parameters, materialize_grads=True)
    moments = [parts.moments.sums] if parts.moments is not None else []
    weights = [weight] if weight is not None else []
    squares = [parts.noise.square(state.step, microbatch, gradients, weight)] if parts.noise is not None else []
    return [*gradients, *moments, *weights, loss.detach(), parts.ballot.cast(votes()), *squares]
