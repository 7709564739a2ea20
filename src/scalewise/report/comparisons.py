"""The section of a comparison: which recipe comes closest to the small batch, and how each of them got there."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from scalewise.compare.chart import curves_figure
from scalewise.compare.compare import Comparison
from scalewise.compare.results import Curve, Quality, Row, Summary, against_baseline, read_curve
from scalewise.compare.table import comparison_table
from scalewise.compare.trials import BASELINE, Condition, Trial
from scalewise.errors import FolderError
from scalewise.record.folder import RunFolder
from scalewise.report.chart import Axis, Line, Mark, Plot, Series, Shape
from scalewise.report.origin import origin_of
from scalewise.report.section import NEW, Figure, Section, Table, as_table
from scalewise.report.values import Facts, read_facts
from scalewise.report.words import counted, number
from scalewise.requests import CompareRequest, command_line

FILE = "compare.json"
_MANY_MARKS = 30

Curves = Mapping[Condition, Sequence[Curve]]


def comparison_sections(folder: Path) -> list[Section]:
    """Read a folder of a comparison."""
    facts = read_facts(folder / FILE)
    quality = _quality(facts)
    rows = [_row(row) for row in facts.each("rows")]
    if not any(row.condition.name == BASELINE for row in rows):
        raise FolderError(f"{facts.where} is damaged: it has no baseline to compare with")
    seeds = facts.whole("seeds") or 1
    curves = {row.condition: _curves(folder, row.condition, seeds, quality) for row in rows}
    comparison = Comparison(quality, rows)
    return [
        Section(
            kind="Comparison",
            title=facts.text("workload"),
            folder=folder,
            answer=_answer(rows, quality, seeds),
            asked=_asked(facts),
            figures=_figures(facts, curves, quality),
            tables=[as_table("Recipes", comparison_table(comparison)), *_curve_tables(curves, quality)],
            methods=_methods(quality, seeds),
            commands=_commands(facts, rows),
            origin={"seeds": ", ".join(map(str, range(seeds))), **origin_of(_metadata(folder, rows))},
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
    runs = [(seed, _trial_folder(folder, condition, seed)) for seed in range(seeds)]
    try:
        return [
            read_curve(Trial(condition, seed, run.config(), run, folder), quality) for seed, run in runs if run.begun()
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise FolderError(f"a run of {condition.name!r} in {folder} is damaged: {error}") from None


def _metadata(folder: Path, rows: Sequence[Row]) -> Facts:
    run = _trial_folder(folder, rows[0].condition, 0)
    return Facts(str(run.path), run.metadata())


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
    over = f" ({row.final.lowest:.4g} to {row.final.highest:.4g} over {seeds} seeds)" if seeds > 1 else ""
    return f"ends at {row.final.mean:.4g} {f'{unit} {what}' if unit else what}{over}"


def _asked(facts: Facts) -> dict[str, str]:
    asked = {"workload": facts.text("workload"), "epochs": facts.text("epochs"), "seeds": facts.text("seeds")}
    return {**asked, **facts.part("asked").shown()}


def _figures(facts: Facts, curves: Curves, quality: Quality) -> list[Figure]:
    whole = _whole(curves)
    drawn = [
        _series(condition, whole[condition], index) for index, condition in enumerate(curves) if condition in whole
    ]
    if not drawn:
        return []
    y = Axis(quality.label)
    what = quality.label.partition(", ")[0]
    plot = Plot(f"{what[:1].upper()}{what[1:]} over epochs", Axis("epochs", from_zero=True), y, tuple(drawn))
    caption = "Lines are means over seeds, bands go from the lowest seed to the highest; the baseline is dashed."
    return [Figure("curves", caption, plot, curves_figure(facts.text("workload"), curves, quality))]


def _whole(curves: Curves) -> dict[Condition, list[Curve]]:
    """Return the conditions that have trials which did not diverge, with those."""
    kept = {condition: [curve for curve in found if not curve.diverged] for condition, found in curves.items()}
    return {condition: found for condition, found in kept.items() if found}


def _series(condition: Condition, curves: Sequence[Curve], index: int) -> Series:
    """Return one condition; the first one is the baseline, which takes no colour."""
    is_baseline = condition.name == BASELINE
    points = _over_seeds(curves)
    name = f"{condition.name}, batch {condition.global_batch:,}" if is_baseline else condition.name
    return Series(
        name,
        tuple(
            Mark(epoch, mean, f"epoch {number(epoch)}\n{mean:.4g}{_spread(low, high)}")
            for epoch, mean, low, high in points
        ),
        None if is_baseline else index - 1,
        Line.DASHED if is_baseline else Line.SOLID,
        Shape.DOT if len(points) <= _MANY_MARKS else Shape.NONE,
        band=tuple((epoch, low, high) for epoch, _, low, high in points) if len(curves) > 1 else (),
        label=name,
    )


def _over_seeds(curves: Sequence[Curve]) -> list[tuple[float, float, float, float]]:
    """Return the mean, the lowest and the highest of all seeds, as far as all of them went."""
    length = min(len(curve.values) for curve in curves)
    values = zip(*(curve.values[:length] for curve in curves), strict=True)
    return [
        (epoch, statistics.fmean(seeds), min(seeds), max(seeds))
        for epoch, seeds in zip(curves[0].epochs[:length], values, strict=True)
    ]


def _spread(low: float, high: float) -> str:
    return "" if low == high else f" ({low:.4g} to {high:.4g})"


def _curve_tables(curves: Curves, quality: Quality) -> list[Table]:
    rows = [
        [condition.name, number(round(epoch, 3)), f"{mean:.4g}", f"{low:.4g}", f"{high:.4g}"]
        for condition, found in _whole(curves).items()
        for epoch, mean, low, high in _over_seeds(found)
    ]
    columns = ("recipe", "epochs", f"mean {quality.label}", "lowest seed", "highest seed")
    return [Table("Curves", columns, rows)] if rows else []


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
