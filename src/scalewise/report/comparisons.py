"""The section of a comparison: which recipe comes closest to the small batch, and the learning curve of each."""

from collections.abc import Sequence
from pathlib import Path

from scalewise.compare.curves import curves_figure, curves_table
from scalewise.compare.recipe_table import recipe_table
from scalewise.compare.results import Curve, Quality, read_curve, trial_folder, whole
from scalewise.errors import FolderError
from scalewise.record.results.compare import BASELINE, ComparedRecipe, CompareResult, Condition
from scalewise.report.origin import origin_of_run
from scalewise.report.section import NEW, ReportSection
from scalewise.report.values import as_text
from scalewise.requests import CompareRequest, command_line
from scalewise.words import counted, interval, number


def comparison_sections(folder: Path) -> list[ReportSection]:
    """Read a folder of a comparison."""
    result = CompareResult.read(folder)
    rows, quality = result.rows, _quality(result)
    baseline = next((row for row in rows if row.name == BASELINE), None)
    if baseline is None:
        raise FolderError(f"{folder / CompareResult.file_name} is damaged: it has no baseline to compare with")
    curves = {row.condition: _curves(folder, row.condition, result.seeds, quality) for row in rows}
    ran = bool(whole(curves))
    origin = origin_of_run(trial_folder(folder, rows[0].condition, 0).metadata())
    return [
        ReportSection(
            kind="Comparison",
            title=result.workload,
            folder=folder,
            answer=_answer(rows, baseline, quality, result.seeds),
            asked=_asked(result),
            figures=[curves_figure(curves, quality)] if ran else [],
            tables=[recipe_table(rows, quality), *([curves_table(curves, quality)] if ran else [])],
            methods=_methods(quality, result.seeds),
            commands=_commands(result, baseline),
            origin={"seeds": ", ".join(map(str, range(result.seeds))), **origin},
        )
    ]


def _quality(result: CompareResult) -> Quality:
    """Read how the values are shown: as the metric, or as what is said in its place."""
    complement = (
        "" if result.shown in ("", result.metric) else result.shown.removeprefix("validation ").removesuffix(", %")
    )
    return Quality(result.metric, result.higher_is_better == bool(complement), complement)


def _curves(folder: Path, condition: Condition, seeds: int, quality: Quality) -> list[Curve]:
    """Read the runs of one condition that still exist."""
    runs = [trial_folder(folder, condition, seed) for seed in range(seeds)]
    return [read_curve(run, run.config().recipe.global_batch, quality) for run in runs if run.begun()]


def _answer(rows: Sequence[ComparedRecipe], baseline: ComparedRecipe, quality: Quality, seeds: int) -> list[str]:
    sentences = [f"The baseline, batch {baseline.global_batch:,}, {_ends(baseline, quality, seeds)}."]
    compared = [(row.against_baseline, row) for row in rows if row.against_baseline is not None]
    if compared:
        difference, best = (max if quality.higher_is_better else min)(compared, key=lambda pair: pair[0])
        ended = _ends(best, quality, seeds)
        sentences.insert(
            0,
            f"Of {counted(len(rows) - 1, 'recipe')} at batch {best.global_batch:,}, {best.name} "
            f"does best: it {ended}, {difference:+.2f} against the baseline.",
        )
    sentences += [
        f"{row.name} diverged with {row.diverged} of {counted(row.trials, 'seed')}." for row in rows if row.diverged
    ]
    return sentences


def _ends(row: ComparedRecipe, quality: Quality, seeds: int) -> str:
    if row.final is None:
        return "diverged"
    what, _, unit = quality.label.partition(", ")
    over = f" ({interval(number(row.final.lowest), number(row.final.highest))} over {seeds} seeds)" if seeds > 1 else ""
    return f"ends at {number(row.final.mean)} {f'{unit} {what}' if unit else what}{over}"


def _asked(result: CompareResult) -> dict[str, str]:
    known = {"workload": result.workload, "epochs": result.epochs, "seeds": result.seeds, **dict(result.asked)}
    shown = {name.replace("_", " "): as_text(value) for name, value in known.items()}
    return {name: text for name, text in shown.items() if text}


def _methods(quality: Quality, seeds: int) -> list[str]:
    return [
        "Every recipe trains for the same number of epochs, so a larger batch trains for fewer steps; the baseline "
        "uses the plain recipe at its small batch.",
        f"All are repeated with {counted(seeds, 'seed')}. Final is the last measurement of {quality.metric}, best the "
        "best one of the run. A seed that diverged is counted as diverged and left out of the means.",
    ]


def _commands(result: CompareResult, baseline: ComparedRecipe) -> list[str]:
    asked, others = result.asked, [row for row in result.rows if row is not baseline]
    recipes = asked.recipes or tuple(row.name for row in others)
    if result.epochs is None or not recipes:
        return []
    request = CompareRequest(
        workload=result.workload,
        recipes=recipes,
        global_batch=asked.global_batch or (others[0] if others else baseline).global_batch,
        baseline_batch=baseline.global_batch,
        epochs=result.epochs,
        seeds=result.seeds,
        learning_rate=asked.learning_rate,
        overrides=asked.overrides,
        workers=asked.workers or CompareRequest.workers,
        out=NEW,
    )
    return [command_line(request)]
