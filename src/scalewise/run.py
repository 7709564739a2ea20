"""One run from its configuration to its folder: builds the parts in reading order, drains the loop, records."""

import contextlib
import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import torch
from rich.console import Console

from scalewise.cluster.collectives import broadcast_from_chief, choose_device, gather_values, joined, wait_for_all
from scalewise.cluster.signals import StopRequest
from scalewise.cluster.world import World, threads_per_worker
from scalewise.config import AUTO, Config, model_decisions
from scalewise.data.order import ExampleOrder, permutation
from scalewise.data.splits import Split, as_splits
from scalewise.errors import ExitCode, FolderError, UserError
from scalewise.loop.clock import Clock
from scalewise.loop.evaluate import Evaluator
from scalewise.loop.probe import probe
from scalewise.loop.state import TrainingState
from scalewise.loop.step import Parts
from scalewise.loop.stopping import stop_rule
from scalewise.loop.total import RunningTotal, TreeTotal
from scalewise.loop.train import EvalResult, Loop, Stopped, evaluation_plan
from scalewise.progress import LiveLine, Meter, PlainLines, Silent, View
from scalewise.recipe.batch import batch_of
from scalewise.recipe.batch_norm import take_over_batch_norm
from scalewise.recipe.flat import flatten, layout_with
from scalewise.recipe.optimizers import make_optimizer
from scalewise.recipe.schedules import learning_rate
from scalewise.record import provenance
from scalewise.record.folder import RunFolder
from scalewise.record.recorder import CheckpointTimer, Recorder, Status, now, status_after
from scalewise.record.tensorboard import EventFiles
from scalewise.seeds import Purpose, derive
from scalewise.workloads import Workload

T = TypeVar("T")


def resolved(config: Config, workers: int) -> Config:
    """Replace `auto` by what it stands for, where that is known without the data; check what can be checked."""
    batch = batch_of(config.recipe)
    batch.share(0, workers)
    recipe = config.recipe.model_copy(update={"microbatch": batch.microbatch})
    cluster = config.cluster.model_copy(update={"workers": workers})
    return config.model_copy(update={"recipe": recipe, "cluster": cluster})


def default_folder(config: Config) -> Path:
    """Name a folder after everything that decides the model, so that the same command continues the same run."""
    decisions = json.dumps(model_decisions(config), sort_keys=True)
    name = re.sub(r"[^\w./-]", "/", config.workload.removesuffix(".py")).strip("./")
    return Path("runs") / name / hashlib.sha256(decisions.encode()).hexdigest()[:10]


def run(config: Config, workload: Workload, out: Path, world: World) -> ExitCode:
    """Train until the stopping rule or a signal ends it; the chief leaves the run folder."""
    torch.set_num_threads(threads_per_worker(config.cluster, config.recipe.exact, world.local_workers))
    device = choose_device(config.cluster.device, world)
    if config.recipe.exact and device.type == "cuda":  # one thread on a CPU is always deterministic
        torch.use_deterministic_algorithms(True)
    with contextlib.ExitStack() as stack:
        stack.enter_context(joined(world, device, config.cluster.timeout_seconds))
        stop_request = StopRequest()
        loop = _together(world, lambda: build_loop(config, workload, world, device, stop_request.made))
        folder = RunFolder(out) if world.chief else None
        messages: list[str] = []
        start = _together(world, lambda: _open(folder, config, loop.parts.state, stack, messages.append))
        start = broadcast_from_chief(start)
        if start.finished is not None:
            return start.finished.exit_code
        _take_up(loop, start)
        view = _view(loop, world)
        stack.callback(view.close)
        for message in messages:
            view.say(message)
        recorder = _recorder(folder, config, loop, device, view) if folder is not None else None
        stop_request.listen()  # until now there was nothing to save
        for result in loop.run():
            if recorder is not None:
                recorder.record(result)
            view.show(result)
        wait_for_all()  # nobody leaves while the chief still writes
    assert isinstance(result, Stopped)
    return status_after(result.reason).exit_code


def build_loop(
    config: Config, workload: Workload, world: World, device: torch.device, interrupted: Callable[[], bool]
) -> Loop:
    """Build everything that training needs and that does not depend on the run folder."""
    recipe = config.recipe
    batch = batch_of(recipe)
    splits = {name: split.to(device) for name, split in as_splits(workload.data()).items()}
    train = splits["train"]
    loss = functools.partial(workload.summed_loss, label_smoothing=recipe.label_smoothing)

    torch.manual_seed(derive(recipe.seed, Purpose.INITIAL_WEIGHTS))
    model, moments = take_over_batch_norm(workload.model().to(device))
    weights = flatten(model)
    smallest = batch.size(batch.microbatches - 1)
    names = probe(model, workload, recipe.label_smoothing, train, smallest)

    layout = layout_with(weights, moments.sums.shape if moments is not None else (0,), (), (2,))
    total = TreeTotal(layout, device, batch, world) if recipe.exact else RunningTotal(layout, device)
    optimizer = make_optimizer(recipe, weights, total.vector)
    parts = Parts(
        state=TrainingState(model, weights, optimizer),
        examples=train,
        order=ExampleOrder(recipe.seed, len(train)),
        batch=batch,
        share=batch.share(world.rank, world.workers),
        loss=loss,
        learning_rate=functools.partial(learning_rate, recipe),
        moments=moments,
        total=total,
        seed=recipe.seed,
    )
    measured = {**splits, "train": _measured_train_examples(config, splits)}
    evaluator = Evaluator(model, workload.metrics, measured, names, config.evaluate.batch, world)
    rule = stop_rule(config.stop, batch.examples, len(train))
    if rule.target is not None:
        rule.target.check(evaluator.columns())
    plan = evaluation_plan(config.evaluate, batch.examples, len(train))
    return Loop(parts, evaluator, plan, rule, Clock(), world.chief, interrupted)


def _measured_train_examples(config: Config, splits: dict[str, Split]) -> Split:
    """Choose the training examples that evaluation measures: the same ones every time."""
    train, wanted = splits["train"], config.evaluate.train_examples
    count = min(len(train), len(splits["val"]) if wanted == AUTO else wanted)
    seed = derive(config.recipe.seed, Purpose.EVALUATION_SUBSET)
    chosen = permutation(seed, 0, len(train))[:count].sort().values
    return train.take(chosen.to(train.inputs.device))


@dataclass(frozen=True)
class Start:
    """Where a sitting begins."""

    step: int = 0
    clock: Clock = dataclasses.field(default_factory=Clock)
    last: EvalResult | None = None
    finished: Status | None = None
    """What became of the run, when an earlier sitting has ended it."""


def _open(
    folder: RunFolder | None,
    config: Config,
    state: TrainingState,
    stack: contextlib.ExitStack,
    say: Callable[[str], None],
) -> Start:
    """Claim the run folder and take up what an earlier sitting left there. Only the chief has anything to do."""
    if folder is None:
        return Start()
    stack.enter_context(folder.claimed())
    folder.check(config)
    if finished := folder.finished():
        return Start(finished=Status(finished))
    folder.write_config(config)
    saved = folder.checkpoints(config.checkpoint.keep).latest(say)
    step = saved.step if saved is not None else 0
    row = folder.keep_measurements_until(step)
    last = EvalResult(*row) if row is not None else None
    if saved is None:
        return Start(last=last)
    if saved.numbers["workload"] != config.workload:
        raise FolderError(
            f"the checkpoint in {folder.path} belongs to the workload {saved.numbers['workload']!r}, "
            f"not {config.workload!r}"
        )
    state.load(saved.tensors)
    say(f"continues from the checkpoint at step {step}")
    return Start(step, Clock(**saved.numbers["clock"]), last)


def _take_up(loop: Loop, start: Start) -> None:
    """Bring every worker to where the sitting begins."""
    loop.parts.state.step = start.step
    loop.parts.state.broadcast()
    loop.clock, loop.last = start.clock, start.last


def _together(world: World, prepare: Callable[[], T]) -> T:
    """Prepare on every worker; a mistake that any of them meets ends all of them, and only the chief tells of it."""
    prepared, mistake = None, None
    try:
        prepared = prepare()
    except UserError as error:
        mistake = error
    mistakes = gather_values(None if mistake is None else str(mistake))
    for rank, message in enumerate(mistakes):
        if message is not None and not world.chief:
            raise SystemExit(ExitCode.MISTAKE)
        if message is not None:
            raise UserError(message if rank == 0 else f"worker {rank}: {message}")
    return cast(T, prepared)


def _view(loop: Loop, world: World) -> View:
    if not world.chief:
        return Silent()
    meter = Meter(loop.clock, loop.rule, loop.parts.batch.examples, loop.parts.state.step)
    console = Console(stderr=True)
    return LiveLine(console, meter) if console.is_terminal else PlainLines(console, meter)


def _recorder(folder: RunFolder, config: Config, loop: Loop, device: torch.device, view: View) -> Recorder:
    state = loop.parts.state
    facts = {
        "workload": config.workload,
        "parameters": config.recipe.model_dump(),
        "weights": sum(parameter.numel() for parameter in state.weights.parameters),
        "train_examples": len(loop.parts.examples),
        "target": config.stop.target,
        "workers": config.cluster.workers,
        "threads_per_worker": torch.get_num_threads(),
        "device": str(device),
        "versions": provenance.versions(),
        "hardware": provenance.hardware(device),
        "git_commit": provenance.git_commit(),
        "started": folder.metadata().get("started", now()),
    }
    recorder = Recorder(
        folder=folder,
        state=state,
        clock=loop.clock,
        facts=facts,
        global_batch=loop.parts.batch.examples,
        settings=config.checkpoint,
        timer=CheckpointTimer(config.checkpoint),
        events=EventFiles(folder.events, state.step) if config.record.tensorboard else None,
        warn=view.say,
    )
    recorder.write_metadata(Status.INCOMPLETE)
    return recorder
