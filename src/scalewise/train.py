"""Decides where a training command runs: in this process, in the group it finds itself in, or in local workers."""

import dataclasses
from dataclasses import dataclass

from rich.console import Console

from scalewise.build import resolved
from scalewise.cluster.launch import launch_local
from scalewise.cluster.world import World
from scalewise.config import Config, load_config
from scalewise.errors import ConfigError, Diverged, ExitCode, Failed, Interrupted
from scalewise.record.folder import RunFolder, move_aside
from scalewise.record.recorder import Status
from scalewise.requests import TrainRequest, arguments
from scalewise.run import default_folder, run
from scalewise.workloads.door import find_workload


@dataclass(frozen=True)
class Ended:
    """How it ended, and the folder to tell the user about, unless a worker has told already."""

    exit_code: ExitCode
    folder: RunFolder | None


def train(request: TrainRequest) -> Ended:
    """Train as asked."""
    world = World.from_environment()
    workload = find_workload(request.workload)
    config = load_config(request.workload, workload.defaults, request.recipe, request.settings)
    config = resolved(config, _workers(request, config, world))
    folder = RunFolder(request.out or default_folder(config))
    if request.fresh and world.chief and world.restarts == 0:
        move_aside(folder.path)
    if world.launched or config.cluster.workers == 1:
        return Ended(run(config, workload, folder.path, world), folder if world.chief else None)
    folder.check(config)
    if finished := folder.finished():
        return Ended(Status(finished).exit_code, folder)
    return _launch(request, config, folder)


def train_part(request: TrainRequest, whole: str) -> None:
    """Train a run of something larger, which needs it to be complete."""
    exit_code = train(request).exit_code
    if exit_code is ExitCode.STOPPED:
        raise Interrupted(f"the same command continues {whole}")
    if exit_code is ExitCode.DIVERGED:
        raise Diverged(f"the training of {request.workload} diverged; a smaller recipe.learning_rate may help")
    if exit_code is not ExitCode.COMPLETE:
        raise Failed(exit_code)


def _workers(request: TrainRequest, config: Config, world: World) -> int:
    """Count the workers: those of the group that this process is in, or those asked for."""
    if not world.launched:
        return request.workers or config.cluster.workers
    if request.workers not in (None, world.workers):
        raise ConfigError(f"--workers {request.workers} was asked for, but the launcher started {world.workers}")
    return world.workers


def _launch(request: TrainRequest, config: Config, folder: RunFolder) -> Ended:
    # The same command for each worker, in this folder, which was moved aside already if it had to be.
    for_workers = dataclasses.replace(request, out=folder.path, workers=config.cluster.workers, fresh=False)
    exit_code = launch_local(arguments(for_workers), config, Console(stderr=True).print)
    if exit_code is None:  # a stop signal: the folder tells how far the workers got
        status = folder.metadata().get("status", Status.INCOMPLETE)
        exit_code = Status(status).exit_code
    return Ended(exit_code, None)
