"""Times the code of two revisions in turns on this machine: what became slower?

The base is checked out into a temporary folder, the working tree is taken as it is; both run with the same Python,
packages and processor. Training is timed as the loop of `scalewise train` takes steps, in processes that live through
all rounds and sleep in between; a plan as the command that a user waits for.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from checkout import ROOT, checkout, described, environment_of, scratch_folder
from group import Group, Way
from planning import planning_request
from rounds import ratios, take_turns
from scalewise.requests import arguments

_ROUND_SECONDS = 0.3
_PLAN = "plan of 10,000"
_ENDLESS = 10**9


@dataclass(frozen=True)
class Case:
    """Some training whose steps are timed."""

    workload: str
    global_batch: int
    microbatch: int
    workers: int = 1
    exact: bool = False

    @property
    def name(self) -> str:
        """Say what is trained."""
        pieces = [self.workload, f"batch {self.global_batch}"]
        pieces += [f"{self.workers} workers"] * (self.workers > 1) + ["exact"] * self.exact
        return ", ".join(pieces)

    def group(self, tree: Path) -> Group:
        """Start its workers by the code of a tree."""
        settings = [
            f"recipe.global_batch={self.global_batch}",
            f"recipe.microbatch={self.microbatch}",
            f"recipe.exact={self.exact}",
            "stop.epochs=null",
            f"stop.steps={_ENDLESS}",
            f"evaluate.every_steps={_ENDLESS}",
        ]
        script = tree / "benchmarks" / "group.py"
        return Group(self.workload, settings, self.workers, Way.TRAIN, script, environment_of(tree))


_CNN, _WIDE, _SMALL = "fashion_mnist/simple_cnn_base", "fashion_mnist/fc_128_128_128", "digits/fc_64_64"
_NORMALISED = "cifar_10/resnet_8"
_CASES = (
    *(Case(workload, batch, batch) for workload in (_SMALL, _WIDE, _CNN) for batch in (64, 512)),
    Case(_WIDE, 512, 64),
    Case(_NORMALISED, 16, 8),
    Case(_NORMALISED, 128, 64),
    Case(_WIDE, 256, 128, workers=2),
    Case(_CNN, 256, 128, workers=2),
    Case(_CNN, 256, 64, workers=4),
    Case(_WIDE, 256, 64, exact=True),
    Case(_WIDE, 256, 64, workers=2, exact=True),
)


def main(
    base: Annotated[str | None, typer.Option(help="as for same_model.py")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="how often everything is measured")] = 61,
    only: Annotated[str | None, typer.Option(help="measure what has this in its name")] = None,
) -> None:
    """Measure everything in turns; print the speed of the working tree as a share of the base's."""
    with scratch_folder("same-speed") as folder, checkout(base, folder / "code") as code:
        print(f"base {described(code)}, working tree {described(ROOT)}: {rounds} rounds; speed, tree over base")
        for case in _CASES:
            if (only or "") in case.name:
                _print_speed(case.name, _training_speeds(case, code, rounds))
        if (only or "") in _PLAN:
            _print_speed(_PLAN, _planning_speeds(folder, code, rounds))


def _training_speeds(case: Case, base: Path, rounds: int) -> list[float]:
    groups = [case.group(tree) for tree in (base, ROOT)]
    steps = max(1, round(_ROUND_SECONDS / groups[0].take_steps(3)))
    steps = max(1, round(_ROUND_SECONDS / groups[0].take_steps(steps)))
    speeds = _speeds([partial(group.take_steps, steps) for group in groups], rounds)
    for group in groups:
        group.close()
    return speeds


def _planning_speeds(folder: Path, base: Path, rounds: int) -> list[float]:
    command = [sys.executable, "-m", "scalewise", *arguments(planning_request(folder))]
    return _speeds([partial(_seconds, command, tree) for tree in (base, ROOT)], rounds)


def _seconds(command: Sequence[str], tree: Path) -> float:
    os.sync()  # nobody waits for what others are still writing
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment_of(tree))
    return time.perf_counter() - started


def _speeds(measures: Sequence[Callable[[], float]], rounds: int) -> list[float]:
    seconds = take_turns(dict(zip(("base", "tree"), measures, strict=True)), rounds)
    return ratios(seconds["base"], seconds["tree"])


def _print_speed(name: str, speeds: Sequence[float]) -> None:
    """Print the median with the 95 % interval that the ranks of the rounds give it."""
    ordered, middle = sorted(speeds), len(speeds) / 2
    reach = 0.98 * len(speeds) ** 0.5  # of a binomial distribution's standard deviation, sqrt(n) / 2
    low, high = ordered[max(0, int(middle - reach))], ordered[min(len(ordered) - 1, int(middle + reach))]
    print(f"{name:52} {median(speeds):.3f} ({low:.3f} to {high:.3f})", flush=True)


if __name__ == "__main__":
    typer.run(main)
