"""Builds loops in this process, and drains them without files."""

from collections.abc import Callable

import torch

from scalewise.cluster.world import World
from scalewise.config import load_config
from scalewise.loop.loop import EvalResult, Loop, StepResult, Stopped
from scalewise.recipe.resolve import resolve
from scalewise.run.build import build_loop
from scalewise.workloads.find import find_workload


def make_loop(
    *overrides: str, workload: str = "digits/fc_64_64", interrupted: Callable[[], bool] = lambda: False
) -> Loop:
    torch.set_num_threads(1)
    found = find_workload(workload)
    config = load_config(workload, found.defaults, None, overrides)
    return build_loop(resolve(config), found, World(), torch.device("cpu"), interrupted)


def drain(loop: Loop) -> tuple[list[StepResult], list[EvalResult], Stopped]:
    results = list(loop.run())
    steps = [result for result in results if isinstance(result, StepResult)]
    evaluations = [result for result in results if isinstance(result, EvalResult)]
    assert isinstance(results[-1], Stopped)
    return steps, evaluations, results[-1]
