"""Trains in this process alone, without a folder, for whoever wants the results of a loop one by one."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import torch
from torch import nn

from scalewise.cluster.collectives import choose_device, make_deterministic
from scalewise.cluster.host import host_kept
from scalewise.cluster.world import World
from scalewise.loop.loop import EvalResult, Loop, StepResult, Stopped
from scalewise.requests import TrainRequest
from scalewise.run.performance import Builder, ExecutionChoice
from scalewise.run.train import prepared
from scalewise.workloads import Workload


@dataclass(frozen=True)
class Alone:
    """A training by one worker that writes nothing; between two results the process is as it was found."""

    workload: Workload
    loop: Loop
    threads: int
    exact: bool
    device: torch.device

    @classmethod
    def of(cls, request: TrainRequest) -> Self:
        """Build everything."""
        world = World()
        workload, config, _ = prepared(request, world)
        device = choose_device(config.cluster.device, world)
        choice = ExecutionChoice.default(config, world, device)
        with _host(choice.threads_per_worker, config.recipe.exact, device):
            loop = Builder(config, workload, world, device, lambda: False).build(choice)
        return cls(workload, loop, choice.threads_per_worker, config.recipe.exact, device)

    def results(self) -> Iterator[StepResult | EvalResult | Stopped]:
        """Train, and yield what comes of it."""
        results = self.loop.run()
        while True:
            with _host(self.threads, self.exact, self.device):
                result = next(results, None)
            if result is None:
                return
            yield result

    def model(self) -> nn.Module:
        """Return the workload's own network with the weights as they are now, averaged ones where averaging is on."""
        state = self.loop.parts.state
        with torch.random.fork_rng(devices=[]):
            network = self.workload.model()
        with contextlib.nullcontext() if state.average is None else state.average.in_place():
            network.load_state_dict(state.model_tensors())
        return network.eval()


@contextlib.contextmanager
def _host(threads: int, exact: bool, device: torch.device) -> Iterator[None]:
    with host_kept():
        if exact:
            make_deterministic(device)
        torch.set_num_threads(threads)
        yield
