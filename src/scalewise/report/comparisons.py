"""The section of a comparison: which recipe comes closest to the small batch, and how each of them got there."""

from collections.abc import Sequence
from pathlib import Path

from scalewise.compare.curves import curves_figure, curves_table
from scalewise.compare.recipe_table import recipe_table
from scalewise.compare.results import (
    BASELINE,
    Condition,
    Curve,
    Quality,
    Row,
    Summary,
    against_baseline,
    read_curve,
    whole,
)
from scalewise.errors import FolderError
from scalewise.record.folder import RunFolder
from scalewise.record.results.run import RunMetadata
from scalewise.report.origin import origin_of_run
from scalewise.report.section import NEW, Section
from scalewise.report.values import Facts, read_facts
from scalewise.requests import CompareRequest, command_line
from scalewise.words import counted, interval, number

FILE = "compare.json"


def comparison_sections(folder: Path) -> list[Section]:
    """Read a folder of a comparison."""
    facts = read_facts(folder / FILE)
    quality = _quality(facts)
    rows = [_row(row) for row in facts.each("rows")]
    if not any(row.condition.name == BASELINE for row in rows):
        raise FolderError(f"{facts.where} is damaged: it has no baseline to compare with")
    seeds = facts.whole("seeds") or 1
    curves = {row.condition: _curves(folder, row.condition, seeds, quality) for row in rows}
    ran = bool(whole(curves))
    return [
        Section(
            kind="Comparison",
            title=facts.text("workload"),
            folder=folder,
            answer=_answer(rows, quality, seeds),
            asked=_asked(facts),
            figures=[curves_figure(curves, quality)] if ran else [],
            tables=[recipe_table(rows, quality), *([curves_table(curves, quality)] if ran else [])],
            methods=_methods(quality, seeds),
            commands=_commands(facts, rows),
            origin={"seeds": ", ".join(map(str, range(seeds))), **origin_of_run(_metadata(folder, rows))},
        )
    ]


def _quality(facts: Facts) -> Quality:
    metric, higher = facts.text("metric"), facts.truth("higher_is_better")
    return Quality(metric, below=not higher or metric.endswith("classification_error"))


def _row(facts: Facts) -> Row:
    condition = Condition(
        facts.text("name"), facts.text("workload"), facts.text("recipe"), int(facts.needed("global_batch"))
    )
    return Row(
        condition,
        _summary(facts.part("final")),
        _summary(facts.part("best")),
        facts.whole("trials") or 0,
        facts.whole("diverged") or 0,
        facts.number("examples_per_second"),
    )


def _summary(facts: Facts) -> Summary | None:
    return Summary(*(facts.needed(name) for name in ("mean", "lowest", "highest"))) if facts.content else None


def _trial_folder(folder: Path, condition: Condition, seed: int) -> RunFolder:
    return RunFolder(folder / condition.name.replace("/", "_") / str(seed))


def _curves(folder: Path, condition: Condition, seeds: int, quality: Quality) -> list[Curve]:
    """Read the runs of one condition, as far as they are still there."""
    runs = [_trial_folder(folder, condition, seed) for seed in range(seeds)]
    try:
        return [read_curve(run, run.config().recipe.global_batch, quality) for run in runs if run.begun()]
    except (KeyError, TypeError, ValueError) as error:
        raise FolderError(f"a run of {condition.name!r} in {folder} is damaged: {error}") from None


def _metadata(folder: Path, rows: Sequence[Row]) -> RunMetadata | None:
    return _trial_folder(folder, rows[0].condition, 0).metadata()


def _answer(rows: Sequence[Row], quality: Quality, seeds: int) -> list[str]:
    baseline = next(row for row in rows if row.condition.name == BASELINE)
    sentences = [f"The baseline, batch {baseline.condition.global_batch:,}, {_ends(baseline, quality, seeds)}."]
    compared = [(difference, row) for row in rows if (difference := against_baseline(row, rows)) is not None]
    if compared:
        difference, best = (max if quality.higher_is_better else min)(compared, key=lambda pair: pair[0])
        ended = _ends(best, quality, seeds)
        sentences.insert(
            0,
            f"Of {counted(len(rows) - 1, 'recipe')} at batch {best.condition.global_batch:,}, {best.condition.name} "
            f"does best: it {ended}, {difference:+.2f} against the baseline.",
        )
    sentences += [
        f"{row.condition.name} diverged with {row.diverged} of {counted(row.trials, 'seed')}."
        for row in rows
        if row.diverged
    ]
    return sentences


def _ends(row: Row, quality: Quality, seeds: int) -> str:
    if row.final is None:
        return "diverged"
    what, _, unit = quality.label.partition(", ")
    over = f" ({interval(number(row.final.lowest), number(row.final.highest))} over {seeds} seeds)" if seeds > 1 else ""
    return f"ends at {number(row.final.mean)} {f'{unit} {what}' if unit else what}{over}"


def _asked(facts: Facts) -> dict[str, str]:
    asked = {"workload": facts.text("workload"), "epochs": facts.text("epochs"), "seeds": facts.text("seeds")}
    return {**asked, **facts.part("asked").shown()}


def _methods(quality: Quality, seeds: int) -> list[str]:
    return [
        "Every recipe trains for the same number of epochs, so with a larger batch for fewer steps; the baseline "
        "trains by the plain recipe at its small batch.",
        f"All are repeated with {counted(seeds, 'seed')}. Final is the last measurement of {quality.metric}, best the "
        "best one on the way. A seed that diverged counts as diverged and is in no mean.",
    ]


def _commands(facts: Facts, rows: Sequence[Row]) -> list[str]:
    asked, epochs = facts.part("asked"), facts.number("epochs")
    others = [row.condition for row in rows if row.condition.name != BASELINE]
    baseline = next(row.condition for row in rows if row.condition.name == BASELINE)
    recipes = asked.texts("recipes") or [condition.name for condition in others]
    if epochs is None or not recipes:
        return []
    request = CompareRequest(
        workload=facts.text("workload"),
        recipes=tuple(recipes),
        global_batch=asked.whole("global_batch") or (others[0] if others else baseline).global_batch,
        baseline_batch=baseline.global_batch,
        epochs=epochs,
        seeds=facts.whole("seeds") or CompareRequest.seeds,
        learning_rate=asked.number("learning_rate"),
        overrides=tuple(asked.texts("overrides")),
        workers=asked.whole("workers") or CompareRequest.workers,
        out=NEW,
    )
    return [command_line(request)]
