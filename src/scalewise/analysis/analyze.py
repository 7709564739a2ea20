"""From a folder of studies, or a file of steps, to curves, budgets and pictures."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from scalewise.analysis.archive import COMPLETE, INFEASIBLE, Skipped, Study, read_archive
from scalewise.analysis.curve import make_curve
from scalewise.analysis.goals import published_goal
from scalewise.analysis.outcomes import Outcome, StepsToTarget, steps_of_batches, steps_to_target
from scalewise.analysis.pictures import draw_all
from scalewise.analysis.scatter import ScatterPoint, scatter_point
from scalewise.analysis.workload_findings import Analysis, WorkloadFindings
from scalewise.config import Target
from scalewise.errors import ConfigError, DataError, nearest
from scalewise.record.results.analysis import BudgetBest
from scalewise.record.results.study import StudyDescription
from scalewise.record.steps import read_steps
from scalewise.record.study_folder import OWN
from scalewise.requests import AnalyzeRequest

_DEFAULT_OUT = Path("runs/analyze")
"""The folder of the results for a file of steps."""


@dataclass(frozen=True)
class Budgets:
    """The budgets within which the best metric is found; None: not asked for."""

    steps: int | None = None
    epochs: float | None = None


NO_BUDGETS = Budgets()


def analyze(request: AnalyzeRequest) -> Analysis:
    """Analyse, draw and write what was found."""
    workloads, skipped = find_out(request)
    out = _out(request)
    analysis = Analysis(workloads, skipped, draw_all(out, workloads), out)
    analysis.file.write(out)
    return analysis


def find_out(request: AnalyzeRequest) -> tuple[list[WorkloadFindings], list[Skipped]]:
    """Return what was found and what could not be read, and write nothing."""
    _check(request)
    skipped: list[Skipped] = []
    if request.steps_file is not None:
        rows = steps_of_batches(read_steps(request.steps_file))
        workloads = [WorkloadFindings(make_curve(request.steps_file.stem, next(iter(request.targets), None), rows))]
    else:
        assert request.folder is not None
        budgets = Budgets(request.step_budget, request.epoch_budget)
        workloads = workloads_in(request.folder, request.targets, skipped, budgets)
    return workloads, skipped


def _check(request: AnalyzeRequest) -> None:
    if (request.folder is None) == (request.steps_file is None):
        raise ConfigError("analyze needs either a folder of studies, or --steps with a steps.csv")
    if request.epoch_budget is not None and not request.epoch_budget > 0:
        raise ConfigError(f"--epoch-budget {request.epoch_budget:g} must be greater than 0")


def _out(request: AnalyzeRequest) -> Path:
    if request.out is not None:
        return request.out
    return _DEFAULT_OUT if request.folder is None else request.folder / OWN / "analysis"


def workloads_in(
    folder: Path, targets: Sequence[str], skipped: list[Skipped], budgets: Budgets = NO_BUDGETS
) -> list[WorkloadFindings]:
    """Analyse every workload in a folder, for its own target or for each of the given targets."""
    asked = [Target.parse(text) for text in targets]
    found: dict[tuple[str, str], list[_Analysed]] = {}
    for study in read_archive(folder, functools.partial(_metrics, asked), skipped):
        for target in _targets(asked, study.description):
            found.setdefault(("/".join(study.workload), str(target)), []).append(_analyse(study, target, budgets))
    if not found:
        count = f"; {len(skipped)} could not be read" if skipped else ""
        raise DataError(f"there is no study below {folder}{count}")
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


def _workload(name: str, studies: Sequence[_Analysed]) -> WorkloadFindings:
    curve = make_curve(name, str(studies[0].target), [study.row for study in studies])
    budgets = sorted((best for study in studies for best in study.budgets), key=lambda best: best.batch_size)
    return WorkloadFindings(curve, budgets, {study.row.batch_size: study.scatter for study in studies if study.scatter})


def _analyse(study: Study, target: Target, budgets: Budgets) -> _Analysed:
    _check_metric(study, target)
    reached = _first_steps(study, target)
    if 0 in reached.values():
        raise ConfigError(
            f"{'/'.join(study.workload)} is past {target} before its first step, at batch size {study.batch_size:,}: "
            "choose a target that takes training"
        )
    complete = [trial for trial in study.trials if trial.status == COMPLETE]
    outcomes = [
        Outcome(trial.trial_id, reached.get(trial.trial_id), trial.steps, trial.parameters) for trial in complete
    ]
    infeasible = sum(trial.status == INFEASIBLE for trial in study.trials)
    row = steps_to_target(study.batch_size, outcomes, infeasible)
    points = [scatter_point(trial, trial.trial_id in reached, trial.trial_id == row.trial_id) for trial in study.trials]
    scatter = [point for point in points if point is not None]
    return _Analysed(target, row, _best_within_budgets(study, target, budgets), scatter)


def _metrics(asked: list[Target], description: StudyDescription) -> list[str]:
    return [target.metric for target in _targets(asked, description)]


def _targets(asked: list[Target], description: StudyDescription) -> list[Target]:
    """Return the targets that were asked for, or the study's own."""
    if asked:
        return asked
    text = description.target or published_goal(description.dataset, description.model)
    if text is None:
        raise ConfigError(f"no target is known for {description.dataset}/{description.model}: name one with --target")
    return [Target.parse(text)]


def _check_metric(study: Study, target: Target) -> None:
    if study.metrics and target.metric not in study.metrics:
        hint = nearest(target.metric, study.metrics) or f"; there are {', '.join(study.metrics)}"
        raise ConfigError(f"{'/'.join(study.workload)} has no metric {target.metric!r}{hint}")


def _first_steps(study: Study, target: Target) -> dict[int, float]:
    """Return the first measured step past the target of every trial that has one."""
    if target.metric not in study.measurements.columns:
        return {}
    metric = pl.col(target.metric)
    past = metric < target.value if target.below else metric > target.value
    first = study.measurements.filter(past & metric.is_not_nan()).group_by("trial_id").agg(pl.col("step").min())
    return dict(first.iter_rows())


def _best_within_budgets(study: Study, target: Target, asked: Budgets) -> list[BudgetBest]:
    """Find the best metric within the budgets that were asked for."""
    budgets = []
    if asked.steps is not None:
        budgets.append((f"{asked.steps} steps", float(asked.steps)))
    if asked.epochs is not None:
        examples = study.description.train_examples
        if examples is None:
            raise ConfigError("--epoch-budget needs train_examples in study.json, which public archives do not have")
        budgets.append((f"{asked.epochs:g} epochs", asked.epochs * examples / study.batch_size))
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
