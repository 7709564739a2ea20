"""The section of a run: how it ended, and its metrics along the way."""

import math
from collections.abc import Sequence
from pathlib import Path

from scalewise.config import Config, model_decisions
from scalewise.figures.figure import Figure
from scalewise.figures.plot import Axis, Mark, Plot, Rule, Series, Shape
from scalewise.figures.table import Table, numbers
from scalewise.loop.stopping import Reason
from scalewise.record.folder import RunFolder
from scalewise.record.results.noise import MeasuredNoise, is_noise
from scalewise.record.results.run import RunMetadata
from scalewise.report.origin import origin_of_run
from scalewise.report.section import NEW, ReportSection, facts_table
from scalewise.report.values import as_text
from scalewise.requests import TrainRequest, command_line
from scalewise.words import counted, interval, number
from scalewise.words import seconds as as_seconds

Measured = Sequence[tuple[int, dict[str, float]]]

_ENDS = {
    Reason.TARGET: "reached its target {target}",
    Reason.LOSS: "reached {loss}, as a mean over {window},",
    Reason.STEPS: "completed its steps",
    Reason.EPOCHS: "completed its epochs",
    Reason.SECONDS: "used all of its seconds",
    Reason.SIGNAL: "was stopped by a signal",
    Reason.DIVERGED: "diverged",
}
_AND_THEN = {
    Reason.SIGNAL: "The same command continues it.",
    Reason.DIVERGED: "Its loss is no longer finite.",
}
_MANY_MARKS = 60
"""From this many points on, a line without dots is easier to read."""
_LOG_FROM = 5
"""Values that differ by such a factor need a logarithmic axis."""
_NOISE = "noise_scale"
"""The name of its figure."""


def run_sections(folder: Path) -> list[ReportSection]:
    """Read a run folder."""
    run = RunFolder(folder)
    config, known, measured = run.config(), run.metadata(), run.measurements()
    return [
        ReportSection(
            kind="Run",
            title=config.workload,
            folder=folder,
            answer=_answer(config, known, measured),
            asked=_asked(config, known),
            figures=_figures(config, measured),
            tables=[*_measurement_tables(measured), _settings(config)],
            methods=_methods(config, known, measured),
            commands=[_command(config, run, known)],
            origin={"seed": str(config.recipe.seed), **origin_of_run(known)},
        )
    ]


def _command(config: Config, run: RunFolder, known: RunMetadata | None) -> str:
    workers = None if known is None else known.workers
    return command_line(TrainRequest(workload=config.workload, recipe=str(run.config_file), workers=workers, out=NEW))


def _answer(config: Config, known: RunMetadata | None, measured: Measured) -> list[str]:
    if known is None:
        return ["The run has started and has not recorded anything yet."]
    spent = f"{counted(known.steps, 'step')}, {as_seconds(known.training_seconds)} of training"
    sentences = [f"The run {_how_it_ended(config, known)} after {spent} on {counted(known.workers, 'worker')}."]
    sentences += [text for reason, text in _AND_THEN.items() if reason is known.stopped_by]
    metric = _chief_metric(config, known, measured)
    if metric is not None:
        last = measured[-1][1][metric]
        values = [(row[metric], step) for step, row in measured if not math.isnan(row[metric])]
        lower = _lower_is_better(config, known, metric)
        best, at = min(values) if lower else max(values, key=lambda value: value[0])
        extreme = "" if best == last else f"; the {'lowest' if lower else 'highest'} was {number(best)} at step {at:,}"
        sentences.append(f"At the end {metric} was {number(last) or 'not a number'}{extreme}.")
    return [*sentences, *_noise_sentence(measured)]


def _how_it_ended(config: Config, known: RunMetadata) -> str:
    reason, target = known.stopped_by, config.stop.target
    if reason is None:
        return "is unfinished"
    if reason in (Reason.STEPS, Reason.EPOCHS, Reason.SECONDS) and target is not None:
        return f"did not reach its target {target}: it {_ENDS[reason]} and ended"
    return _ENDS[reason].format(target=target, loss=config.stop.loss, window=config.stop.loss_window)


def _chief_metric(config: Config, known: RunMetadata, measured: Measured) -> str | None:
    """Return the metric of the target, or else the workload's first one on val."""
    columns = list(measured[-1][1]) if measured else []
    target = config.stop.target
    wanted = [target.metric] if target is not None else []
    on_val = [f"val/{metric.name}" for metric in known.metrics]
    found = [*wanted, *on_val, *(name for name in columns if name.startswith("val/"))]
    return next((name for name in found if name in columns and _any_number(measured, name)), None)


def _lower_is_better(config: Config, known: RunMetadata, column: str) -> bool:
    if config.stop.target is not None and config.stop.target.metric == column:
        return config.stop.target.below
    name = column.rpartition("/")[2]
    return next((metric.lower_is_better for metric in known.metrics if metric.name == name), True)


def _any_number(measured: Measured, name: str) -> bool:
    return any(not math.isnan(row[name]) for _, row in measured)


def _noise_sentence(measured: Measured) -> list[str]:
    noise = _last_noise(measured)
    if noise is None:
        return []
    if noise.value is None:
        return ["There were too few steps to measure the gradient noise scale."]
    return [
        f"The gradient noise scale at the end was {number(noise.value)} examples "
        f"({interval(number(noise.low), number(noise.high))}): a rough estimate of the critical batch size, often "
        "wrong; a study measures it."
    ]


def _last_noise(measured: Measured) -> MeasuredNoise | None:
    return MeasuredNoise.of(measured[-1][1]) if measured else None


def _asked(config: Config, known: RunMetadata | None) -> dict[str, str]:
    recipe, stop = config.recipe, config.stop
    ends = {"steps": stop.steps, "epochs": stop.epochs, "seconds": stop.seconds}
    return {
        "workload": config.workload,
        "global batch": f"{recipe.global_batch:,}",
        "optimizer": recipe.optimizer,
        "learning rate": f"{recipe.learning_rate:g}",
        "target": str(stop.target or "none"),
        "ends after": " or ".join(f"{value:,g} {name}" for name, value in ends.items() if value is not None)
        or "nothing",
        "workers": as_text(config.cluster.workers if known is None else known.workers),
    }


def _figures(config: Config, measured: Measured) -> list[Figure]:
    columns = [name for name in (measured[-1][1] if measured else ()) if not is_noise(name)]
    metrics = dict.fromkeys(name.rpartition("/")[2] for name in columns)
    plots = [
        (metric, _metric_plot(config, metric, [c for c in columns if c.rpartition("/")[2] == metric], measured))
        for metric in metrics
    ]
    if _last_noise(measured) is not None:
        plots.append((_NOISE, _noise_plot(measured)))
    return [Figure(name, _caption(name, plot), plot) for name, plot in plots if not plot.empty()]


def _caption(name: str, plot: Plot) -> str:
    if name == _NOISE:
        return "Each point is over the steps since the one before, with its 95 % interval."
    return f"Measured on whole splits{'; the dashed line is the target' * bool(plot.rules)}."


def _metric_plot(config: Config, metric: str, columns: Sequence[str], measured: Measured) -> Plot:
    values = [row[name] for _, row in measured for name in columns if math.isfinite(row[name])]
    log = bool(values) and min(values) > 0 and max(values) / min(values) > _LOG_FROM
    target = config.stop.target
    rules = [Rule("y", target.value, f"target {target.value:g}")] if target and target.metric in columns else []
    y = Axis(metric.replace("_", " "), log=log, from_zero=not log)
    series = [_split(config, name, measured, colour) for colour, name in enumerate(columns)]
    title = f"{metric.replace('_', ' ').capitalize()} over steps"
    return Plot(title, Axis("step", from_zero=True, whole=True), y, tuple(series), tuple(rules))


def _split(config: Config, column: str, measured: Measured, colour: int) -> Series:
    batch = config.recipe.global_batch
    marks = [
        Mark(step, row[column], f"step {step:,}\n{step * batch:,} examples\n{number(row[column])}")
        for step, row in measured
        if math.isfinite(row[column])
    ]
    name = column.rpartition("/")[0] or column
    shape = Shape.DOT if len(marks) <= _MANY_MARKS else Shape.NONE
    return Series(name, tuple(marks), colour, shape=shape, label=name)


def _noise_plot(measured: Measured) -> Plot:
    found = [(step, noise) for step, row in measured if (noise := MeasuredNoise.of(row)) is not None]
    marks = [
        Mark(step, noise.value, f"until step {step:,}\n{number(noise.value)} examples", noise.low, noise.high)
        for step, noise in found
        if noise.value is not None
    ]
    series = Series("noise scale", tuple(marks), 0)
    title = "Gradient noise scale over steps"
    return Plot(title, Axis("step", from_zero=True, whole=True), Axis("noise scale, examples", log=True), (series,))


def _measurement_tables(measured: Measured) -> list[Table]:
    if not measured:
        return []
    columns = list(measured[-1][1])
    rows = [[f"{step:,}", *(number(row.get(name)) or "-" for name in columns)] for step, row in measured]
    return [Table("Measurements", numbers("step", *columns), rows)]


def _settings(config: Config) -> Table:
    return facts_table("Settings", {name: as_text(value) or "none" for name, value in model_decisions(config).items()})


def _methods(config: Config, known: RunMetadata | None, measured: Measured) -> list[str]:
    recipe = config.recipe
    of = "" if known is None else f" of the {known.train_examples:,} training examples"
    methods = [
        f"Every step is one update on {recipe.global_batch:,}{of}, which go through the network in microbatches of "
        f"{as_text(recipe.microbatch)}; workers share them out, so their number decides the time and never the model.",
        "Metrics are measured on whole splits, at step 0, at regular steps and at the end. Seconds of training do not "
        "include evaluation and checkpoints.",
    ]
    if _last_noise(measured) is not None:
        methods.append(
            "The noise scale compares the gradients of microbatches with their sum, averaged over the steps since the "
            "measurement before; its interval is for 95 %."
        )
    return methods
