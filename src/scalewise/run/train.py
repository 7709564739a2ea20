"""Decides where a training command runs: in this process, in the group it finds itself in, or in local workers."""

import dataclasses
from dataclasses import dataclass

from scalewise.cluster.launch import launch_local
from scalewise.cluster.progress_console import progress_console
from scalewise.cluster.world import World
from scalewise.config import Config, load_config
from scalewise.errors import ConfigError, Diverged, ExitCode, Failed, Interrupted
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.record.folder import RunFolder, move_aside
from scalewise.record.status import Status
from scalewise.requests import TrainRequest, arguments
from scalewise.run.build import resolved
from scalewise.run.run import default_folder, run
from scalewise.workloads import Workload
from scalewise.workloads.find import find_workload


@dataclass(frozen=True)
class Trained:
    """The status of a run, and its folder."""

    status: Status
    folder: RunFolder
    reported_elsewhere: bool = False
    """Whether another process, such as the chief, reports the result to the user."""


def folder_of(request: TrainRequest) -> RunFolder:
    """Say where a request trains."""
    return prepared(request, World.from_environment())[2]


def prepared(request: TrainRequest, world: World) -> tuple[Workload, ResolvedConfig, RunFolder]:
    """Return what is trained, by which configuration, and where."""
    workload = find_workload(request.workload)
    asked = load_config(request.workload, workload.defaults, request.recipe, request.settings)
    config = resolved(asked, _workers(request, asked, world))
    return workload, config, RunFolder(request.out or default_folder(config))


def train(request: TrainRequest) -> Trained:
    """Train as asked."""
    world = World.from_environment()
    workload, config, folder = prepared(request, world)
    if request.fresh and world.chief and world.restarts == 0:
        move_aside(folder.path)
    if world.launched or config.cluster.workers == 1:
        return Trained(run(config, workload, folder.path, world), folder, reported_elsewhere=not world.chief)
    folder.check(config)
    if finished := folder.finished():
        return Trained(finished, folder)
    return _launch(request, config, folder)


def train_part(request: TrainRequest, whole: str) -> None:
    """Train a run that is part of something larger; raise an exception unless it completes."""
    status = train(request).status
    if status is Status.INCOMPLETE:
        raise Interrupted(f"the same command continues {whole}")
    if status is Status.INFEASIBLE:
        raise Diverged(f"the training of {request.workload} diverged; a smaller recipe.learning_rate may help")


def _workers(request: TrainRequest, config: Config, world: World) -> int:
    """Count the workers: those of the group that this process is in, or those asked for."""
    if not world.launched:
        return request.workers or config.cluster.workers
    if request.workers not in (None, world.workers):
        raise ConfigError(f"--workers {request.workers} was asked for, but the launcher started {world.workers}")
    return world.workers


def _launch(request: TrainRequest, config: Config, folder: RunFolder) -> Trained:
    # The same command for each worker, in this folder, which was moved aside already if it had to be.
    for_workers = dataclasses.replace(request, out=folder.path, workers=config.cluster.workers, fresh=False)
    ended = launch_local(arguments(for_workers), config, progress_console().print)
    if ended.exit_code in (ExitCode.BUG, ExitCode.MISTAKE):
        raise Failed(ended.exit_code, ended.said)
    known = folder.metadata()
    return Trained(Status.INCOMPLETE if known is None else known.status, folder, reported_elsewhere=True)
