"""The loop: steps and evaluations in turn, yielded one by one, until the stopping rule or a signal ends it."""

import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field

from scalewise.loop.clock import Clock
from scalewise.loop.evaluate import Evaluator
from scalewise.loop.noise import NoiseSample
from scalewise.loop.step import Parts, StepOutcome, take_step
from scalewise.loop.stopping import Reason, StopRule
from scalewise.loop.votes import Votes
from scalewise.recipe.resolve import ResolvedEvaluate


@dataclass(frozen=True)
class StepResult:
    """A step was taken."""

    step: int
    loss: float
    learning_rate: float
    skipped: bool = False
    """Whether something overflowed in fp16, so that nothing moved."""
    noise: NoiseSample | None = None
    """What the step says of the gradient noise scale, where it is measured."""


@dataclass(frozen=True)
class EvalResult:
    """The metrics were measured after `step` steps."""

    step: int
    metrics: dict[str, float]


@dataclass(frozen=True)
class Stopped:
    """Training ended; always the last result."""

    step: int
    reason: Reason


@dataclass(frozen=True)
class EvaluationPlan:
    """After which steps the metrics are measured."""

    every_steps: int | None
    every_examples: int | None
    global_batch: int

    def due(self, step: int) -> bool:
        """Say whether an evaluation belongs after this many steps.

        >>> plan = EvaluationPlan(every_steps=None, every_examples=100, global_batch=64)
        >>> [step for step in range(6) if plan.due(step)]
        [0, 2, 4, 5]
        """
        if step == 0 or (self.every_steps is not None and step % self.every_steps == 0):
            return True
        if self.every_examples is None:
            return False
        return step * self.global_batch // self.every_examples > (step - 1) * self.global_batch // self.every_examples


def evaluation_plan(evaluate: ResolvedEvaluate, global_batch: int, train_examples: int) -> EvaluationPlan:
    """Count in examples."""
    every_examples = train_examples if evaluate.every_examples == "epoch" else evaluate.every_examples
    return EvaluationPlan(evaluate.every_steps, every_examples, global_batch)


@dataclass
class Loop:
    """What drives the steps."""

    parts: Parts
    evaluator: Evaluator
    plan: EvaluationPlan
    rule: StopRule
    clock: Clock
    chief: bool
    """Whether this worker's clock counts: the others' also hold their waiting while the chief writes."""
    interrupted: Callable[[], bool]
    """Whether this worker was asked to stop."""
    last: EvalResult | None = None
    """The last evaluation, which a resumed run has from its record."""
    losses: deque[float] = field(init=False)
    """Of the last steps, as many as the stopping rule looks at."""

    def __post_init__(self) -> None:
        self.losses = deque(maxlen=self.rule.loss_steps)

    def run(self) -> Iterator[StepResult | EvalResult | Stopped]:
        """Train on; the caller may save the state whenever a result is in its hands."""
        reason = yield from self._results()
        yield Stopped(self.parts.state.step, reason)

    def _results(self) -> Generator[StepResult | EvalResult, None, Reason]:
        """Yield steps and evaluations; return why they ended."""
        out_of_time = self._out_of_time()
        while True:
            step = self.parts.state.step
            if not self._measured(step) and (self.plan.due(step) or self._reason(None, out_of_time)):
                evaluation = self._evaluate(step)
                if evaluation is None:
                    return Reason.SIGNAL
                yield evaluation
                if not all(map(math.isfinite, evaluation.metrics.values())):
                    return Reason.DIVERGED
            metrics = self.last.metrics if self.last is not None and self._measured(step) else None
            if reason := self._reason(metrics, out_of_time):
                return reason
            outcome = self._step()
            if self.rule.loss is not None and not outcome.skipped:
                self.losses.append(outcome.loss)
            noise = None if outcome.skipped else outcome.noise
            yield StepResult(self.parts.state.step, outcome.loss, outcome.learning_rate, outcome.skipped, noise)
            if outcome.diverged:
                return Reason.DIVERGED
            if outcome.votes.interrupt:
                return Reason.SIGNAL
            out_of_time = outcome.votes.out_of_time

    def _reason(self, metrics: Mapping[str, float] | None, out_of_time: bool) -> Reason | None:
        return self.rule.reason(self.parts.state.step, metrics, out_of_time, self.losses)

    def _measured(self, step: int) -> bool:
        return self.last is not None and self.last.step == step

    def _evaluate(self, step: int) -> EvalResult | None:
        with self.clock.evaluating():
            metrics = self.evaluator.measure(self.interrupted)
        self.last = None if metrics is None else EvalResult(step, metrics)
        return self.last

    def _step(self) -> StepOutcome:
        started = time.perf_counter()
        outcome = take_step(self.parts, self._votes)
        self.clock.training_seconds += time.perf_counter() - started
        return outcome

    def _votes(self) -> Votes:
        return Votes(interrupt=self.interrupted(), out_of_time=self.chief and self._out_of_time())

    def _out_of_time(self) -> bool:
        return self.rule.seconds is not None and self.clock.training_seconds >= self.rule.seconds
