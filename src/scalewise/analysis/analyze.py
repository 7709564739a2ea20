"""From a folder of studies, or a file of steps, to curves, budgets and pictures."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scalewise.analysis.archive import COMPLETE, INFEASIBLE, Skipped, Study, read_archive
from scalewise.analysis.charts import draw_all
from scalewise.analysis.curve import make_curve
from scalewise.analysis.findings import Analysis, BudgetBest, Workload
from scalewise.analysis.goals import published_goal
from scalewise.analysis.outcomes import Outcome, StepsToTarget, steps_to_target
from scalewise.analysis.scatter import ScatterPoint, scatter_point
from scalewise.analysis.steps_file import read_steps
from scalewise.config import Target
from scalewise.errors import ConfigError, DataError, nearest
from scalewise.record.atomic import write_result


@dataclass(frozen=True)
class AnalyzeRequest:
    """What a user asked for."""

    folder: Path | None
    steps_file: Path | None
    targets: Sequence[str]
    """None: the study's own."""
    step_budget: int | None
    epoch_budget: float | None
    out: Path


def analyze(request: AnalyzeRequest) -> Analysis:
    """Analyse, draw and write what was found."""
    skipped: list[Skipped] = []
    if request.steps_file is not None:
        target = next(iter(request.targets), None)
        workloads = [Workload(make_curve(request.steps_file.stem, target, read_steps(request.steps_file)))]
    else:
        workloads = _from_folder(request, skipped)
    analysis = Analysis(workloads, skipped, draw_all(request.out, workloads))
    write_result(request.out / "analysis.json", json.dumps(analysis.content(), indent=2).encode() + b"\n")
    return analysis


def analyze_folder(folder: Path) -> tuple[list[Workload], list[Skipped]]:
    """Analyse studies by their own targets, and write nothing; return also what could not be read."""
    skipped: list[Skipped] = []
    request = AnalyzeRequest(folder, None, (), None, None, out=folder)
    return _from_folder(request, skipped), skipped


def _from_folder(request: AnalyzeRequest, skipped: list[Skipped]) -> list[Workload]:
    assert request.folder is not None
    asked = [Target.parse(text) for text in request.targets]
    found: dict[tuple[str, str], list[_Analysed]] = {}
    for study in read_archive(request.folder, None, skipped):
        for target in asked or [_own_target(study)]:
            found.setdefault(("/".join(study.workload), str(target)), []).append(_analyse(study, target, request))
    if not found:
        count = f"; {len(skipped)} could not be read" if skipped else ""
        raise DataError(f"there is no study below {request.folder}{count}")
    return [
        _workload(f"{name}, {target}" if len(asked) > 1 else name, studies) for (name, target), studies in found.items()
    ]


@dataclass(frozen=True)
class _Analysed:
    """What one study shows."""

    target: Target
    row: StepsToTarget
    budgets: list[BudgetBest]
    scatter: list[ScatterPoint]


def _workload(name: str, studies: Sequence[_Analysed]) -> Workload:
    curve = make_curve(name, str(studies[0].target), [study.row for study in studies])
    budgets = sorted((best for study in studies for best in study.budgets), key=lambda best: best.batch_size)
    return Workload(curve, budgets, {study.row.batch_size: study.scatter for study in studies if study.scatter})


def _analyse(study: Study, target: Target, request: AnalyzeRequest) -> _Analysed:
    _check_metric(study, target)
    reached = _first_steps(study, target)
    complete = [trial for trial in study.trials if trial.status == COMPLETE]
    outcomes = [
        Outcome(trial.trial_id, reached.get(trial.trial_id), trial.steps, trial.parameters) for trial in complete
    ]
    infeasible = sum(trial.status == INFEASIBLE for trial in study.trials)
    row = steps_to_target(study.batch_size, outcomes, infeasible)
    points = [scatter_point(trial, trial.trial_id in reached, trial.trial_id == row.trial_id) for trial in study.trials]
    scatter = [point for point in points if point is not None]
    return _Analysed(target, row, list(_budgets(study, target, request)), scatter)


def _own_target(study: Study) -> Target:
    text = study.description.get("target") or published_goal(study.dataset, study.model)
    if text is None:
        raise ConfigError(f"no target is known for {'/'.join(study.workload)}: name one with --target")
    return Target.parse(str(text))


def _check_metric(study: Study, target: Target) -> None:
    columns = [name for name in study.measurements.columns if name not in ("trial_id", "step")]
    if columns and target.metric not in columns:
        hint = nearest(target.metric, columns) or f"; there are {', '.join(columns)}"
        raise ConfigError(f"{'/'.join(study.workload)} has no metric {target.metric!r}{hint}")


def _first_steps(study: Study, target: Target) -> dict[int, float]:
    """Return the first measured step past the target of every trial that has one."""
    if target.metric not in study.measurements.columns:
        return {}
    metric = pl.col(target.metric)
    past = metric < target.value if target.below else metric > target.value
    first = study.measurements.filter(past & metric.is_not_nan()).group_by("trial_id").agg(pl.col("step").min())
    return dict(first.iter_rows())


def _budgets(study: Study, target: Target, request: AnalyzeRequest) -> list[BudgetBest]:
    """Find the best metric within the budgets that were asked for."""
    budgets = []
    if request.step_budget is not None:
        budgets.append((f"{request.step_budget} steps", float(request.step_budget)))
    if request.epoch_budget is not None:
        examples = study.description.get("train_examples")
        if not isinstance(examples, int):
            raise ConfigError("--epoch-budget needs train_examples in study.json, which public archives do not have")
        budgets.append((f"{request.epoch_budget:g} epochs", request.epoch_budget * examples / study.batch_size))
    complete = [trial.trial_id for trial in study.trials if trial.status == COMPLETE]
    return [_best_within(study, target, complete, name, steps) for name, steps in budgets]


def _best_within(study: Study, target: Target, complete: list[int], budget: str, steps: float) -> BudgetBest:
    if target.metric not in study.measurements.columns:
        return BudgetBest(study.batch_size, budget, steps, None, None)
    metric = pl.col(target.metric)
    within = study.measurements.filter(
        pl.col("trial_id").is_in(complete) & (pl.col("step") <= steps) & metric.is_not_null() & metric.is_not_nan()
    ).sort([target.metric, "trial_id"], descending=[not target.below, False])
    if within.is_empty():
        return BudgetBest(study.batch_size, budget, steps, None, None)
    best = within.row(0, named=True)
    return BudgetBest(study.batch_size, budget, steps, best[target.metric], best["trial_id"])
