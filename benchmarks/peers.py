"""Compares the speed of scalewise's loop with a bare loop, the usual DataLoader loop, Accelerate and Lightning."""

import sys
from collections.abc import Callable, Iterator
from statistics import median
from typing import Annotated, Any

import torch
import typer

from contenders import (
    Contender,
    StepByStep,
    accelerate_steps,
    bare_channels_last_steps,
    bare_steps,
    data_loader_steps,
    scalewise_steps,
)
from lightning_contender import LightningContender
from results import write_results
from rounds import ratios, spread, take_turns
from tables import peers_table, render_readme
from task import Task, make_task

_WORKLOADS = ("digits/fc_64_64", "fashion_mnist/fc_128_128_128", "fashion_mnist/simple_cnn_base")
_GLOBAL_BATCHES = (64, 512)
_THREADS = 1
_ROUND_SECONDS = 0.2

_SELF = "scalewise"


def main(
    rounds: Annotated[int, typer.Option(min=1, help="how often everything is measured")] = 41,
    only: Annotated[str | None, typer.Option(help="one workload: prints its table, leaves the results alone")] = None,
) -> None:
    """Measure everything in turns, write results/peers.json and the table in README.md."""
    torch.set_num_threads(_THREADS)
    rows = list(_rows(_WORKLOADS if only is None else (only,), rounds))
    print(peers_table(rows))
    if only is None:
        content = {"threads": _THREADS, "rounds": rounds, "rows": rows}
        write_results("peers", content, extra_packages=("accelerate", "lightning"))
        render_readme()


def _rows(workload_names: tuple[str, ...], rounds: int) -> Iterator[dict[str, Any]]:
    for workload_name in workload_names:
        for global_batch in _GLOBAL_BATCHES:
            print(f"measuring {workload_name} at global batch {global_batch}", file=sys.stderr)
            yield _row(make_task(workload_name, global_batch), rounds)


def _row(task: Task, rounds: int) -> dict[str, Any]:
    measures = {name: _speed(contender, task.global_batch) for name, contender in _contenders(task).items()}
    speeds = take_turns(measures, rounds)
    assert torch.get_num_threads() == _THREADS, "a contender changed the number of threads"
    to_others = {name: ratios(speeds[_SELF], speeds[name]) for name in speeds if name != _SELF}
    return {
        "workload": task.config.workload,
        "global_batch": task.global_batch,
        "seed": task.config.recipe.seed,
        "examples_per_second": {name: round(median(values)) for name, values in speeds.items()},
        "ratio_to": {name: round(median(values), 3) for name, values in to_others.items()},
        "ratio_range_to": {name: [round(end, 3) for end in spread(values)] for name, values in to_others.items()},
    }


def _contenders(task: Task) -> dict[str, Contender]:
    return {
        _SELF: StepByStep(scalewise_steps, task),
        "bare": StepByStep(bare_steps, task),
        "bare, channels last": StepByStep(bare_channels_last_steps, task),
        "DataLoader": StepByStep(data_loader_steps, task),
        "Accelerate": StepByStep(accelerate_steps, task),
        "Lightning": LightningContender(task),
    }


def _speed(contender: Contender, global_batch: int) -> Callable[[], float]:
    """Warm a contender up; return the measurement of its examples per second."""
    steps = _steps_per_round(contender)
    return lambda: steps * global_batch / contender.train(steps)


def _steps_per_round(contender: Contender) -> int:
    """Find out how many steps make a round, which warms the contender up, too."""
    contender.train(1)
    steps = 1
    while (seconds := contender.train(steps)) < _ROUND_SECONDS / 4:
        steps *= 2
    return max(1, round(steps * _ROUND_SECONDS / seconds))


if __name__ == "__main__":
    typer.run(main)
