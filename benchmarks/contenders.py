"""The contenders whose steps the caller can take one by one, each an endless iterator."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from time import perf_counter

import torch
import torch.nn.functional as F
from accelerate import Accelerator

from scalewise.cluster.world import World
from scalewise.loop.loop import EvalResult, StepResult
from scalewise.run.build import build_loop
from task import Task


class Contender(ABC):
    """A way to train; it goes on from where the last round left it."""

    @abstractmethod
    def train(self, steps: int) -> float:
        """Train on for so many steps; return the seconds they took."""


class StepByStep(Contender):
    """A contender that leaves the loop to its caller."""

    def __init__(self, endless_steps: Callable[[Task], Iterator[None]], task: Task) -> None:
        self._steps = endless_steps(task)

    def train(self, steps: int) -> float:
        started = perf_counter()
        for _ in range(steps):
            next(self._steps)
        return perf_counter() - started


def scalewise_steps(task: Task) -> Iterator[None]:
    """Drain scalewise's own loop, as `run` does."""
    results = build_loop(task.config, task.workload, World(), torch.device("cpu"), lambda: False).run()
    assert isinstance(next(results), EvalResult)  # step 0 is evaluated; nothing after it is
    for result in results:
        assert isinstance(result, StepResult), result
        yield


def bare_steps(task: Task, memory_format: torch.memory_format = torch.contiguous_format) -> Iterator[None]:
    """Write the loop by hand, with nothing in it that could be left out: the limit."""
    model = task.model().to(memory_format=memory_format)  # type: ignore[call-overload]
    optimizer = task.optimizer(model, fused=True)
    inputs, targets = task.examples.inputs, task.examples.targets
    for indices in task.batch_indices():
        loss = F.cross_entropy(model(inputs[indices]), targets[indices])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        yield


def bare_channels_last_steps(task: Task) -> Iterator[None]:
    """Write the same loop with filters in the memory format that scalewise gives them."""
    return bare_steps(task, torch.channels_last)


def data_loader_steps(task: Task) -> Iterator[None]:
    """Write the loop as tutorials do."""
    model, loader = task.model(), task.loader()
    optimizer = task.optimizer(model)
    while True:
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            yield


def accelerate_steps(task: Task) -> Iterator[None]:
    """Write the loop as Accelerate's guide does."""
    accelerator = Accelerator(cpu=True)
    plain_model = task.model()
    model, optimizer, loader = accelerator.prepare(plain_model, task.optimizer(plain_model), task.loader())
    while True:
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            yield
