"""Turns the results of a loop into files: measurements, checkpoints, metadata and, at the end, the model."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from scalewise.errors import FolderError
from scalewise.loop.clock import Clock
from scalewise.loop.loop import EvalResult, StepResult, Stopped
from scalewise.loop.noise import NoiseSums
from scalewise.loop.state import TrainingState
from scalewise.loop.stopping import Reason
from scalewise.recipe.resolve import ResolvedCheckpoint
from scalewise.record.folder import RunFolder
from scalewise.record.provenance import now
from scalewise.record.results.checkpoint import CheckpointNumbers, NoiseSamples
from scalewise.record.results.noise import MeasuredNoise
from scalewise.record.results.run import RunFacts, RunMetadata, RunProgress, Times
from scalewise.record.status import Status
from scalewise.record.tensorboard import EventFiles


def status_after(reason: Reason) -> Status:
    """Return the status of a run that ended for a reason."""
    return {Reason.SIGNAL: Status.INCOMPLETE, Reason.DIVERGED: Status.INFEASIBLE}.get(reason, Status.COMPLETE)


class CheckpointTimer:
    """Decides when the next checkpoint is due."""

    def __init__(self, settings: ResolvedCheckpoint) -> None:
        self._settings = settings
        self._last, self._cost_seconds = time.monotonic(), 0.0

    def due(self, step: int) -> bool:
        """Say whether a checkpoint belongs after this step."""
        if self._settings.every_steps is not None and step % self._settings.every_steps == 0:
            return True
        interval, share = self._settings.every_seconds, self._settings.share_of_time
        if interval is not None and share:
            interval = max(interval, self._cost_seconds / share)
        return interval is not None and time.monotonic() - self._last >= interval

    def done(self, cost_seconds: float) -> None:
        """Start waiting for the next one."""
        self._last, self._cost_seconds = time.monotonic(), cost_seconds


@dataclass(frozen=True)
class Recorder:
    """Records one start of a run; only the chief has one."""

    folder: RunFolder
    recipe: str
    """The hash of what decides the model."""
    state: TrainingState
    clock: Clock
    facts: RunFacts
    """What is known about the run from the start."""
    global_batch: int
    settings: ResolvedCheckpoint
    timer: CheckpointTimer
    events: EventFiles | None
    say: Callable[[str], None]
    losses: Sequence[float] = ()
    """Of the last steps, where the stopping rule looks at them."""
    noise: NoiseSums | None = None
    """The noise scale since the last evaluation, where it is measured."""

    def record(self, result: StepResult | EvalResult | Stopped) -> None:
        """Write what a result requires."""
        match result:
            case StepResult(step, loss, learning_rate, skipped, noise):
                self._write_events(step, {"train/loss": loss, "learning_rate": learning_rate})
                if self.noise is not None and noise is not None:
                    self.noise.add(noise)
                if skipped:
                    self._say_overflow(step)
                if self.timer.due(step):
                    self._try_checkpoint()
            case EvalResult(step, metrics):
                measured = {**metrics, **self._noise_since_last()}
                self.folder.write_measurement(step, measured)
                self._write_events(step, measured)
            case Stopped(_, reason):
                self._end(reason)

    def _noise_since_last(self) -> dict[str, float]:
        """Return the noise scale since the last evaluation, and start a new sum."""
        if self.noise is None:
            return {}
        found = self.noise.estimate()
        self.noise.clear()
        return MeasuredNoise(**asdict(found)).columns()

    def write_metadata(self, status: Status, reason: Reason | None = None) -> None:
        """Write everything known about the run now."""
        steps, scale = self.state.step, self.state.loss_scale
        seconds = self.clock.training_seconds
        progress = RunProgress(
            status=status,
            stopped_by=reason,
            steps=steps,
            examples=steps * self.global_batch,
            loss_scale=None if scale is None else scale.value,
            skipped_steps=None if scale is None else scale.skipped_steps,
            examples_per_second=round(steps * self.global_batch / seconds, 1) if seconds else None,
            updated=now(),
            **{name: round(value, 6) for name, value in asdict(self.clock).items()},
        )
        self.folder.write_metadata(RunMetadata.of(self.facts, progress))

    def _end(self, reason: Reason) -> None:
        status = status_after(reason)
        if status is Status.INCOMPLETE:
            self._checkpoint()
        if status is Status.COMPLETE:
            self._write_models()
        self.write_metadata(status, reason)
        if self.events is not None:
            self.events.close()

    def _write_models(self) -> None:
        """Write the final weights: the averaged ones where averaging is on, and the plain ones beside them."""
        if self.state.average is None:
            self.folder.write_model(self.state.model_tensors())
            return
        self.folder.write_plain_model(self.state.model_tensors())
        with self.state.average.in_place():
            self.folder.write_model(self.state.model_tensors())

    def _say_overflow(self, step: int) -> None:
        scale = self.state.loss_scale
        if scale is None:
            return
        now = f"the loss scale is {scale.value:g}" if scale.dynamic else f"the loss scale stays {scale.value:g}"
        floor = ", its minimum" if scale.dynamic and scale.at_floor else ""
        self.say(f"step {step} overflowed and was skipped ({scale.skipped_steps} so far); {now}{floor}")

    def _try_checkpoint(self) -> None:
        """Write a checkpoint; if that fails, say so and continue, because the older ones are still there."""
        try:
            self._checkpoint()
            self.write_metadata(Status.INCOMPLETE)
        except FolderError as error:
            self.say(f"no checkpoint at step {self.state.step}, but training continues: {error}")

    def _checkpoint(self) -> None:
        noise = None if self.noise is None else NoiseSamples(**asdict(self.noise))
        numbers = CheckpointNumbers(
            workload=self.facts.workload, clock=Times(**asdict(self.clock)), noise=noise, losses=tuple(self.losses)
        )
        started = time.perf_counter()
        try:
            self.folder.save_checkpoint(self.state.step, self.recipe, self.state.tensors(), numbers, self.settings.keep)
        finally:
            seconds = time.perf_counter() - started
            self.clock.checkpoint_seconds += seconds
            self.timer.done(seconds)

    def _write_events(self, step: int, values: Mapping[str, float]) -> None:
        if self.events is not None:
            self.events.write(step, values)
