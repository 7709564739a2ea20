"""The comparison from its trials to its table and its picture."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from scalewise.cluster.progress_console import progress_console
from scalewise.cluster.world import World
from scalewise.compare.curves import curves_figure
from scalewise.compare.results import Curve, Quality, make_row, quality_of, read_curve
from scalewise.compare.trials import Trial, conditions, trials
from scalewise.config import to_yaml
from scalewise.errors import ConfigError, Diverged
from scalewise.record.results.compare import BASELINE, CompareAsked, ComparedRecipe, CompareResult, Condition
from scalewise.requests import CompareRequest, TrainRequest
from scalewise.run.build import build_loop
from scalewise.run.train import train_part
from scalewise.storage import write_result
from scalewise.workloads.find import find_workload


@dataclass(frozen=True)
class Comparison:
    """What was found."""

    quality: Quality
    result: CompareResult


def compare(request: CompareRequest) -> Comparison:
    """Train whatever is not trained yet, then compare."""
    if World.from_environment().launched:
        raise ConfigError("compare starts its own workers: run it by itself, with --workers")
    everything = trials(request)
    for trial in everything:
        trial.folder.check(trial.config)
        if trial.seed == 0 and not trial.folder.finished():
            # Whatever does not fit is said now, and not after an hour of training.
            build_loop(
                trial.config, find_workload(trial.condition.workload), World(), torch.device("cpu"), lambda: False
            )
    console = progress_console()
    for number, trial in enumerate(everything, start=1):
        console.print(f"[{number}/{len(everything)}] {trial.condition.name}, seed {trial.seed}", markup=False)
        if not trial.folder.finished():
            _train(trial, request.workers)
    return _compared(request, everything)


def _train(trial: Trial, workers: int) -> None:
    write_result(trial.recipe_file, to_yaml(trial.config).encode())
    request = TrainRequest(
        workload=trial.condition.workload,
        recipe=str(trial.recipe_file),
        workers=workers,
        out=trial.folder.path,
        quiet=True,
    )
    with contextlib.suppress(Diverged):  # which is a result here
        train_part(request, "the comparison")


def _compared(request: CompareRequest, everything: list[Trial]) -> Comparison:
    recorded = [known for trial in everything if (known := trial.folder.metadata()) is not None]
    quality = quality_of(find_workload(request.workload).defaults.get("stop", {}).get("target"), recorded[0].metrics)
    curves = {condition: _curves(condition, everything, quality) for condition in conditions(request)}
    result = _result(request, quality, [make_row(condition, found, quality) for condition, found in curves.items()])
    result.write(request.out)
    _draw(request.out / "compare.png", curves, quality)
    return Comparison(quality, result)


def _draw(file: Path, curves: Mapping[Condition, Sequence[Curve]], quality: Quality) -> None:
    from scalewise.figures.picture import picture  # loads matplotlib, which training should not wait for

    write_result(file, picture(curves_figure(curves, quality).chart))


def _result(request: CompareRequest, quality: Quality, rows: Sequence[ComparedRecipe]) -> CompareResult:
    """Return the comparison with what a reader needs to make it again."""
    baseline = next(row for row in rows if row.name == BASELINE)
    return CompareResult(
        workload=request.workload,
        epochs=request.epochs,
        seeds=request.seeds,
        metric=quality.metric,
        shown=quality.label,
        rows=tuple(row.compared_with(baseline) for row in rows),
        higher_is_better=quality.higher_is_better,
        asked=CompareAsked(
            recipes=request.recipes,
            global_batch=request.global_batch,
            baseline_batch=request.baseline_batch,
            learning_rate=request.learning_rate,
            overrides=request.overrides,
            workers=request.workers,
        ),
    )


def _curves(condition: Condition, everything: Iterable[Trial], quality: Quality) -> list[Curve]:
    return [
        read_curve(trial.folder, trial.config.recipe.global_batch, quality)
        for trial in everything
        if trial.condition == condition
    ]
