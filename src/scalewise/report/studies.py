"""The section of a study: steps to target against batch size, and the critical batch size."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from scalewise.analysis.analyze import workloads_in
from scalewise.analysis.archive import Skipped
from scalewise.analysis.curve import StepsCurve
from scalewise.analysis.curve_tables import curve_table
from scalewise.analysis.outcomes import StepsToTarget
from scalewise.analysis.pictures import study_figures
from scalewise.analysis.workload_findings import WorkloadFindings
from scalewise.figures.table import Table, numbers, texts
from scalewise.record.results.study import ParameterRange, StudyDescription
from scalewise.record.study_folder import find_studies
from scalewise.report.section import NEW, ReportSection
from scalewise.report.values import as_text
from scalewise.requests import AnalyzeRequest, StudyRequest, command_line
from scalewise.words import interval, number, sentence

_NAMED = 5
"""How many things that could not be read are named."""


def is_study(folder: Path) -> bool:
    """Say whether there is a study anywhere below a folder."""
    return next(find_studies(folder), None) is not None


def study_sections(folder: Path) -> list[ReportSection]:
    """Analyse a folder of studies; each workload in it is a section."""
    skipped: list[Skipped] = []
    workloads = workloads_in(folder, [], skipped)
    described: dict[str, list[StudyDescription]] = {}
    for study in find_studies(folder):
        if study.path not in [item.path for item in skipped]:
            description = study.description()
            described.setdefault("/".join(description.workload), []).append(description)
    return [_section(folder, workload, described.get(workload.curve.name, []), skipped) for workload in workloads]


def _section(
    folder: Path, workload: WorkloadFindings, described: Sequence[StudyDescription], skipped: Sequence[Skipped]
) -> ReportSection:
    curve = workload.curve
    return ReportSection(
        kind="Study",
        title=curve.name,
        folder=folder,
        answer=_answer(curve),
        asked=_asked(curve, described),
        figures=study_figures(workload),
        tables=[curve_table(curve), *_space_tables(described), *_trial_tables(workload)],
        methods=[*_METHODS, *_left_out(skipped)],
        commands=_commands(folder, curve, described),
        origin=_origin(described),
    )


_METHODS = (
    "At each batch size several settings are tried. Steps to target are the fewest over all complete trials: the first "
    "measured step whose metric is strictly past the target. The 90 % interval, from "
    "resampling the trials, goes from the best trial to the third best.",
    "The critical batch size is the B_crit of steps = S_min (1 + B_crit/B), fitted in log space with errors that "
    "allow a few outliers; batch sizes that never reached the target are bounds. It has a 95 % interval.",
    "A batch size scales perfectly if it needs at most 20 % more examples than the one that needs the fewest. It is in "
    "maximal parallelism if its steps are within 20 % of the fewest, and in diminishing returns between the two.",
)


def _left_out(skipped: Sequence[Skipped]) -> list[str]:
    if not skipped:
        return []
    named = "; ".join(f"{item.path}: {item.why}" for item in skipped[:_NAMED])
    more = f"; and {len(skipped) - _NAMED} more" if len(skipped) > _NAMED else ""
    return [f"Left out, because it could not be read: {named}{more}."]


def _answer(curve: StepsCurve) -> list[str]:
    reached = [row for row in curve.rows if row.steps is not None]
    sentences = [sentence(curve.fit.says)] if reached else ["No batch size reached the target."]
    if len(reached) > 1:
        sentences.append(_fewest(reached))
    overhead = curve.overhead
    if overhead.value is not None:
        ends = interval(number(_rounded(overhead.low)), number(_rounded(overhead.high)))
        known = ends or "interpolated between the points"
        sentences.append(
            f"Up to a batch of {number(_rounded(overhead.value))} ({known}) "
            "a larger batch costs at most 20 % more examples."
        )
    if missed := [row for row in curve.rows if row.steps is None and reached]:
        named = ", ".join(f"{row.batch_size:,}" for row in missed)
        sentences.append(f"Batch {named} did not reach the target in the steps that were tried.")
    return sentences


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def _fewest(reached: Sequence[StepsToTarget]) -> str:
    first, best = reached[0], min(reached, key=lambda row: row.steps or 0.0)
    assert first.steps is not None and best.steps is not None
    if best is first:
        return f"The smallest batch, {first.batch_size:,}, needs the fewest steps, {number(best.steps)}."
    return (
        f"Batch {best.batch_size:,} needs the fewest steps, {number(best.steps)}: {first.steps / best.steps:.1f} times "
        f"fewer than batch {first.batch_size:,}, "
        f"with a batch {number(best.batch_size / first.batch_size)} times as large."
    )


def _asked(curve: StepsCurve, described: Sequence[StudyDescription]) -> dict[str, str]:
    asked = {"target": curve.target or "", "batch sizes": ", ".join(f"{row.batch_size:,}" for row in curve.rows)}
    trials = sorted({row.trials for row in curve.rows})
    asked["trials at each"] = " to ".join(f"{count:,}" for count in dict.fromkeys((trials[0], trials[-1])))
    if described and described[0].train_examples is not None:
        asked["training examples"] = f"{described[0].train_examples:,}"
    return asked


def _trial_tables(workload: WorkloadFindings) -> list[Table]:
    rows = [
        [
            f"{batch:,}",
            number(point.learning_rate),
            number(1 - point.one_minus_momentum),
            point.fate,
            "best" * point.best,
        ]
        for batch, points in sorted(workload.scatter.items())
        for point in points
    ]
    columns = [*numbers("batch size", "learning rate", "momentum"), *texts("target", "")]
    return [Table("All trials", columns, rows)] if rows else []


def _space_tables(described: Sequence[StudyDescription]) -> list[Table]:
    rows = [
        [f"{one.batch_size:,}", name, _range(searched)]
        for one in described
        for name, searched in (one.parameter_configs or {}).items()
    ]
    columns = [*numbers("batch size"), *texts("setting", "range")]
    return [Table("What was searched", columns, rows)] if rows else []


def _range(searched: ParameterRange) -> str:
    scales = {"LOG_SCALE": ", on a logarithmic scale", "REVERSE_LOG_SCALE": ", on a logarithmic scale of 1 - it"}
    if searched.min_value is None or searched.max_value is None:
        return as_text(searched.feasible_points) or as_text(dict(searched))
    return f"{searched.min_value:.4g} to {searched.max_value:.4g}{scales.get(searched.scale or '', '')}"


def _commands(folder: Path, curve: StepsCurve, described: Sequence[StudyDescription]) -> list[str]:
    """Return the commands of the study and of its analysis; the command of a study from elsewhere is unknown."""
    analyze = AnalyzeRequest(folder=folder)
    study = _request(curve, described)
    if study is None:
        return [command_line(analyze)]
    widened = [dataclasses.replace(study, widen=True)] * (max(len(one.stages) for one in described) - 1)
    return [command_line(request) for request in (study, *widened, analyze)]


def _request(curve: StepsCurve, described: Sequence[StudyDescription]) -> StudyRequest | None:
    """Return what was asked for, as far as it was recorded."""
    settings, trials = described[0].settings if described else None, _trials(curve, described)
    if settings is None or not trials:
        return None
    one = described[0]
    return StudyRequest(
        workload=settings.workload,
        batch_sizes=tuple(row.batch_size for row in curve.rows),
        out=NEW,
        trials=trials,
        optimizer=one.optimizer,
        space=None if one.asked.space is None else Path(one.asked.space),
        target=one.target,
        max_steps=settings.stop.steps,
        max_epochs=settings.stop.epochs,
        racing=bool(one.early_stopping),
        seed=one.seed or StudyRequest.seed,
        overrides=one.asked.overrides,
    )


def _trials(curve: StepsCurve, described: Sequence[StudyDescription]) -> int:
    """Return how many trials were asked for at a time: if that was not recorded, as many as there are in a stage."""
    asked = [one.asked.trials or 0 for one in described]
    later_stages = [stage.first_trial for one in described for stage in one.stages[1:2]]
    return max(asked, default=0) or max(later_stages, default=0) or max(row.trials for row in curve.rows)


def _origin(described: Sequence[StudyDescription]) -> dict[str, str]:
    if not described or described[0].seed is None:
        return {}
    return {"seed of the settings": f"{described[0].seed:,}", "seed of each trial": "its number"}
