"""One run from its configuration to its folder: opens the folder, runs the loop, records its results."""

import contextlib
import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import torch

from scalewise.cluster.collectives import (
    broadcast_from_chief,
    choose_device,
    gather_values,
    gpu_name,
    joined,
    make_deterministic,
    wait_for_all,
)
from scalewise.cluster.host import host_kept
from scalewise.cluster.progress_console import progress_console
from scalewise.cluster.signals import StopRequest
from scalewise.cluster.world import World
from scalewise.data.splits import Examples
from scalewise.errors import ExitCode, Failed, FolderError, UserError
from scalewise.loop.clock import Clock
from scalewise.loop.loop import EvalResult, Loop, Stopped
from scalewise.loop.noise import NoiseSums
from scalewise.loop.state import TrainingState
from scalewise.recipe.resolve import ResolvedConfig, fingerprint
from scalewise.record import provenance
from scalewise.record.folder import RunFolder
from scalewise.record.results.run import MetricFacts, PerformanceChoice, RunFacts
from scalewise.record.status import Status
from scalewise.record.tensorboard import EventFiles, check_installed
from scalewise.run.performance import Builder, ExecutionChoice, choose
from scalewise.run.progress import LiveLine, Meter, PlainLines, Silent, View
from scalewise.run.recorder import CheckpointTimer, Recorder, status_after
from scalewise.workloads import Workload

T = TypeVar("T")


def default_folder(config: ResolvedConfig) -> Path:
    """Name a folder after everything that decides the model, so that the same command continues the same run."""
    parts = re.split(r"[/:]", config.workload.replace(".py:", ":"))
    name = Path(*(part for part in parts if part not in ("", ".", "..")))
    return "runs" / name / fingerprint(config).partition("-")[2][:10]


def run(
    config: ResolvedConfig,
    workload: Workload,
    out: Path,
    world: World,
    splits: dict[str, Examples] | None = None,
    enough: Callable[[EvalResult], bool] | None = None,
) -> Status:
    """Train until the stopping rule or a signal ends it; the chief writes the run folder.

    A caller that trains many runs may pass the loaded data as `splits`, and a function that sees every evaluation. If
    this function returns True, the run ends as after a signal, without output.
    """
    device = choose_device(config.cluster.device, world)
    with contextlib.ExitStack() as stack:
        stack.enter_context(host_kept())
        if config.recipe.exact:
            make_deterministic(device)
        stack.enter_context(joined(world, device, config.cluster.timeout_seconds))
        stop_request = StopRequest()
        folder = RunFolder(out) if world.chief else None
        earlier = _earlier_choice(folder)
        choice = ExecutionChoice.default(config, world, device)
        if earlier is not None:
            choice = ExecutionChoice.recorded(earlier, config, world, device)
        builder = Builder(config, workload, world, device, stop_request.made, splits)
        loop = _together(world, lambda: builder.build(choice))
        messages: list[str] = []
        start = _together(world, lambda: _open(folder, config, loop.parts.state, stack, messages.append))
        start = Start.of(broadcast_from_chief(start.content()))
        if start.finished is not None:
            return start.finished
        if earlier is None and start.step == 0:
            loop, choice = choose(builder, loop, choice)
        stack.callback(loop.parts.feed.source.close)
        _take_up(loop, start)
        view = _view(loop, world) if enough is None else Silent()
        stack.callback(view.close)
        if choice.probe_seconds:
            messages.append(f"a probe of {choice.probe_seconds:.1f} s chose: {choice}")
        for message in [*messages, *_derived(config, loop)]:
            view.say(message)
        recorder = _recorder(folder, config, loop, device, view, choice) if folder is not None else None
        if recorder is not None and config.noise_scale.every_steps is not None:
            recorder = dataclasses.replace(recorder, noise=NoiseSums(**(start.noise or {})))
        stack.enter_context(stop_request.listening())  # until now there was nothing to save
        for result in loop.run():
            if recorder is not None:
                recorder.record(result)
            view.show(result)
            if enough is not None and isinstance(result, EvalResult) and enough(result):
                stop_request.make()
        wait_for_all()  # no worker ends while the chief still writes
    assert isinstance(result, Stopped)
    return status_after(result.reason)


def _earlier_choice(folder: RunFolder | None) -> PerformanceChoice | None:
    """Give every worker the choice of an earlier start; a folder that cannot be read is reported when it is opened."""
    known = None
    with contextlib.suppress(FolderError):
        known = folder.metadata() if folder is not None else None
    choice = None if known is None or known.performance is None else known.performance.model_dump()
    shared = broadcast_from_chief(choice)
    return None if shared is None else PerformanceChoice(**shared)


@dataclass(frozen=True)
class Start:
    """Where a run starts from."""

    step: int = 0
    clock: Clock = dataclasses.field(default_factory=Clock)
    last: EvalResult | None = None
    noise: dict[str, Any] | None = None
    """The samples of the noise scale since the last evaluation."""
    losses: list[float] = dataclasses.field(default_factory=list)
    """Of the last steps, where the stopping rule looks at them."""
    finished: Status | None = None
    """The status of the run, if an earlier start has ended it."""

    def content(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Make it from such values again."""
        last, finished = content["last"], content["finished"]
        return cls(
            content["step"],
            Clock(**content["clock"]),
            None if last is None else EvalResult(**last),
            content["noise"],
            content["losses"],
            None if finished is None else Status(finished),
        )


def _open(
    folder: RunFolder | None,
    config: ResolvedConfig,
    state: TrainingState,
    stack: contextlib.ExitStack,
    say: Callable[[str], None],
) -> Start:
    """Claim the run folder and read what an earlier start left there. Only the chief does anything."""
    if folder is None:
        return Start()
    if config.record.tensorboard:
        check_installed()
    stack.enter_context(folder.claimed())
    folder.check(config)
    if finished := folder.finished():
        return Start(finished=finished)
    folder.write_config(config)
    saved = folder.latest_checkpoint(config, say)
    step = saved.step if saved is not None else 0
    row = folder.keep_measurements_until(step)
    last = EvalResult(*row) if row is not None else None
    if saved is None:
        return Start(last=last)
    state.load(saved.tensors)
    say(f"continues from the checkpoint at step {step}")
    noise = None if saved.numbers.noise is None else saved.numbers.noise.model_dump(mode="json")
    return Start(step, Clock(**dict(saved.numbers.clock)), last, noise, list(saved.numbers.losses))


def _take_up(loop: Loop, start: Start) -> None:
    """Bring every worker to where this start begins."""
    loop.parts.state.step = start.step
    loop.parts.state.broadcast()
    loop.clock, loop.last = start.clock, start.last
    loop.losses.extend(start.losses)


def _together(world: World, prepare: Callable[[], T]) -> T:
    """Prepare on every worker; a mistake that any of them finds ends all of them, and only the chief reports it."""
    prepared, mistake = None, None
    try:
        prepared = prepare()
    except UserError as error:
        mistake = error
    mistakes = gather_values(None if mistake is None else str(mistake))
    for rank, message in enumerate(mistakes):
        if message is not None and not world.chief:
            raise Failed(ExitCode.MISTAKE)  # which the chief reports
        if message is not None:
            raise UserError(message if rank == 0 else f"worker {rank}: {message}")
    return cast(T, prepared)


def _derived(config: ResolvedConfig, loop: Loop) -> list[str]:
    """Say what follows from the recipe at this batch, if the recipe does not say it itself."""
    recipe, wire, sentences = config.recipe, config.cluster.wire, []
    facts = loop.parts.schedule.facts()
    if recipe.scaling != "none":
        sentences.append(
            f"learning rate {facts.full_learning_rate:g}, scaled from {recipe.learning_rate:g} "
            f"at batch {recipe.reference_batch} ({recipe.scaling})"
        )
    if facts.warmup_steps:
        sentences.append(f"{recipe.warmup} warmup of {facts.warmup_steps} steps from {facts.first_learning_rate:g}")
    if facts.decay_points:
        steps = ", ".join(f"{step:,}" for step in facts.decay_points)
        sentences.append(f"schedule {recipe.schedule} with changes at steps {steps}")
    if (scale := loop.parts.state.loss_scale) is not None:
        sentences.append(f"loss scale {scale.value:g}")
    derived = ["; ".join(sentences)] if sentences else []
    if loop.parts.noise is not None and loop.parts.moments is not None:
        derived.append("batch normalisation couples the examples of a microbatch: the noise scale is approximate")
    if wire != "fp32":
        derived.append(f"gradients are sent as {wire}: models of different numbers of workers are no longer equal")
    return derived


def _view(loop: Loop, world: World) -> View:
    if not world.chief:
        return Silent()
    meter = Meter(loop.clock, loop.rule, loop.parts.feed.source.batch.examples, loop.parts.state.step)
    console = progress_console()
    return LiveLine(console, meter) if console.is_terminal else PlainLines(console, meter)


def _metric_facts(loop: Loop) -> tuple[MetricFacts, ...]:
    """Describe the metrics: first those that the workload declares, in its order."""
    metrics = {measured.name: measured.metric for measured in loop.evaluator.measured}
    declared = [metric.name for metric in loop.evaluator.workload.measures if metric.name in metrics]
    ordered = [*declared, *(name for name in metrics if name not in declared)]
    return tuple(MetricFacts.model_validate(metrics[name], from_attributes=True) for name in ordered)


def _recorder(
    folder: RunFolder, config: ResolvedConfig, loop: Loop, device: torch.device, view: View, choice: ExecutionChoice
) -> Recorder:
    state, earlier = loop.parts.state, folder.metadata()
    facts = RunFacts(
        workload=config.workload,
        parameters=config.recipe.model_dump(mode="json"),
        weights=sum(parameter.numel() for parameter in state.weights.parameters),
        train_examples=len(loop.parts.feed.source.examples),
        derived=loop.parts.schedule.facts(),
        target=None if config.stop.target is None else str(config.stop.target),
        metrics=_metric_facts(loop),
        workers=config.cluster.workers,
        threads_per_worker=torch.get_num_threads(),
        performance=PerformanceChoice(**dataclasses.asdict(choice)),
        device=str(device),
        versions=provenance.versions(),
        hardware=provenance.hardware(gpu_name(device)),
        git_commit=provenance.git_commit(),
        started=(earlier.started if earlier is not None else None) or provenance.now(),
    )
    recorder = Recorder(
        folder=folder,
        recipe=fingerprint(config),
        state=state,
        clock=loop.clock,
        facts=facts,
        global_batch=loop.parts.feed.source.batch.examples,
        settings=config.checkpoint,
        timer=CheckpointTimer(config.checkpoint),
        events=EventFiles(folder.events, state.step) if config.record.tensorboard else None,
        say=view.say,
        losses=loop.losses,
    )
    recorder.write_metadata(Status.INCOMPLETE)
    return recorder
