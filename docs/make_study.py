"""Writes study.md, its results and its pictures from the folder of a study and a noise scale: `make study`."""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from scalewise.analysis.analyze import analyze
from scalewise.analysis.critical import CriticalBatch, NoFit
from scalewise.analysis.curve import StepsCurve
from scalewise.analysis.step_charts import BATCH_SIZE
from scalewise.figures.picture import picture
from scalewise.figures.plot import Axis, Line, Mark, Plot, Series, Shape
from scalewise.record.ledger import examples_trained
from scalewise.record.results.study import StudyDescription
from scalewise.record.study_folder import find_studies
from scalewise.requests import AnalyzeRequest
from scalewise.storage import write_result
from scalewise.words import interval, number, percent

_HERE = Path(__file__).parent
_RESULT = _HERE / "results" / "study.json"
_PICTURES = _HERE / "pictures"
_GOOD_GUESS = 3.0
"""An estimate of the critical batch size within this factor is useful."""

_PAGE = """# Steps to target against batch size: MNIST

A network of three layers of 128 units, trained to a validation error of {target} with batch sizes from {first:,} to
{last:,}: {trials} settings of learning rate and momentum for each batch size and each of two optimizers. Racing stopped
trials that could not change the answer.

![Steps to target against batch size for both optimizers, and what the noise scale predicts](pictures/study.png)

{says}

{further}

| batch | {names} |
|---:|{lines}
{rows}

The interval is from the best trial to the third best. A trial was measured every {every_small:,} examples up to batch
{small_up_to:,}, and every {every_large:,} beyond: the fewest examples that any batch size took are known to about
{grain}.

{noise_says}

## How the best learning rate grows

![Best effective learning rate against batch size, and two rules: {first_name}](pictures/study_rate_{first_name}.png)

![The same for {second_name}](pictures/study_rate_{second_name}.png)

## What racing saved

Without racing, the trials would have taken {examples_whole:,.0f} million examples. With racing they took
{examples_raced:,.0f} million, {saved:.1f} times fewer; the three best of each batch size are trained to the end, to see
that they do not diverge. If few settings reach the target at all, as with plain SGD at the largest batches, racing
saves little. The answer is the same: [the benchmarks](../benchmarks/README.md#what-racing-saves) compare it on other
workloads.

`make study` trains all of it, draws the pictures and writes this page; `docs/results/study.json` holds the numbers. On
two cores that takes a few hours. If it is stopped, run it again to continue.
"""


def main(folder: Path, noise_file: Path) -> None:
    """Analyse, draw and write."""
    noise = json.loads(noise_file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as out:
        curves = [workload.curve for workload in analyze(AnalyzeRequest(folder=folder, out=Path(out))).workloads]
        for curve in curves:
            rates = Path(out) / curve.name / "learning_rate.png"
            shutil.copy(rates, _PICTURES / f"study_rate_{_optimizer(curve)}.png")
    scale = noise["noise_scale"]["value"]
    _draw(_PICTURES / "study.png", curves, scale)
    content = {
        "curves": {_optimizer(curve): curve.analysed().model_dump(mode="json") for curve in curves},
        "noise_scale": noise["noise_scale"],
        "racing": _racing(folder),
        "descriptions": [_described(study.description()) for study in find_studies(folder)],
    }
    _RESULT.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (_HERE / "study.md").write_text(_page(content, curves), encoding="utf-8")


def _optimizer(curve: StepsCurve) -> str:
    return curve.name.rpartition("/")[2]


def _described(description: StudyDescription) -> dict[str, Any]:
    keys = {"batch_size", "optimizer", "max_steps", "train_examples", "parameter_configs", "seed"}
    assert description.settings is not None
    evaluate = description.settings.evaluate["every_examples"]
    return {**description.model_dump(mode="json", include=keys), "every_examples": evaluate}


def _racing(folder: Path) -> dict[str, float]:
    """Count the examples that were trained on, and those that all trials to the end would have taken."""
    raced = examples_trained(folder)
    studies = [(study.description(), len(study.trials()[0])) for study in find_studies(folder)]
    whole = sum(one.batch_size * (one.max_steps or 0) * trials for one, trials in studies)
    return {"examples_raced": raced, "examples_whole": whole, "times_fewer": whole / raced}


def _draw(file: Path, curves: list[StepsCurve], noise_scale: float) -> None:
    sizes = [row.batch_size for curve in curves for row in curve.rows]
    batches = [float(batch) for batch in np.geomspace(min(sizes), max(sizes), 80)]
    series = [drawn for colour, curve in enumerate(curves) for drawn in _curve_series(curve, colour, batches)]
    lowest = min(row.steps for curve in curves for row in curve.rows if row.steps is not None) / 1.6
    perfect = [(batch, curves[0].fewest_examples / batch) for batch in batches]
    seen = [(batch, steps) for batch, steps in perfect if steps >= lowest]
    series.append(_line("perfect scaling", seen, None, Line.DASHED))
    first = curves[0].rows[0]
    assert first.steps is not None
    scale = first.steps / (1 + noise_scale / first.batch_size)
    predicted = [(batch, scale * (1 + noise_scale / batch)) for batch in batches]
    series.append(_line(f"if the noise scale, {noise_scale:,.0f}, were B_crit", predicted, 2, Line.DOTTED))
    y = Axis("steps to target", log=True)
    write_result(file, picture(Plot("Steps to target against batch size", BATCH_SIZE, y, tuple(series))))


def _curve_series(curve: StepsCurve, colour: int, batches: list[float]) -> list[Series]:
    marks = tuple(
        Mark(row.batch_size, row.steps, low=row.low, high=row.high) for row in curve.rows if row.steps is not None
    )
    measured = Series(_optimizer(curve), marks, colour, Line.NONE)
    if isinstance(curve.fit, NoFit):
        return [measured]
    name = f"{_optimizer(curve)}: B_crit = {curve.fit.value:,.0f}"
    return [measured, _line(name, [(batch, curve.fit.steps(batch)) for batch in batches], colour, Line.SOLID)]


def _line(name: str, points: list[tuple[float, float]], colour: int | None, line: Line) -> Series:
    return Series(name, tuple(Mark(x, y) for x, y in points), colour, line, Shape.NONE)


def _page(content: dict[str, Any], curves: list[StepsCurve]) -> str:
    described, racing = content["descriptions"], content["racing"]
    sizes = sorted({one["batch_size"] for one in described})
    every = sorted({one["every_examples"] for one in described})
    names = [_optimizer(curve) for curve in curves]
    fine = [one["batch_size"] for one in described if one["every_examples"] == every[0]]
    fewest = min(row.steps * row.batch_size for curve in curves for row in curve.rows if row.steps is not None)
    return _PAGE.format(
        target=str(curves[0].target).partition("<")[2],
        first=sizes[0],
        last=sizes[-1],
        trials=min(row.trials for curve in curves for row in curve.rows),
        says="\n".join(f"* `{_optimizer(curve)}`: {_said(curve)}" for curve in curves),
        further=_further(curves),
        names=" | ".join(f"{name}: steps | interval | a larger batch" for name in names),
        lines="---:|---:|---|" * len(names),
        rows="\n".join(_row(size, curves) for size in sizes),
        every_small=every[0],
        every_large=every[-1],
        small_up_to=max(fine),
        grain=percent(every[0] / fewest),
        noise_says=_noise_says(content["noise_scale"], curves),
        first_name=names[0],
        second_name=names[-1],
        examples_raced=racing["examples_raced"] / 1e6,
        examples_whole=racing["examples_whole"] / 1e6,
        saved=racing["times_fewer"],
    )


def _said(curve: StepsCurve) -> str:
    regions = [(row.batch_size, curve.region(row)) for row in curve.rows]
    named = {region: [size for size, there in regions if there is region] for _, region in regions if region}
    spans = ", ".join(
        f"{region} at {sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "")
        for region, sizes in named.items()
    )
    return f"{curve.fit.says}; {spans}."


def _further(curves: list[StepsCurve]) -> str:
    """Say which optimizer scales further: where perfect scaling ends, and how few steps there can be."""
    ends = [(curve.overhead.value, min(row.steps for row in curve.rows if row.steps is not None)) for curve in curves]
    found = [
        f"`{_optimizer(curve)}` needs 20 % more examples than the minimum at a batch of {end:,.0f}, and at least "
        f"{fewest:,.0f} steps"
        for curve, (end, fewest) in zip(curves, ends, strict=True)
        if end is not None
    ]
    return f"Which one scales further? {'; '.join(found)}."


def _row(size: int, curves: list[StepsCurve]) -> str:
    cells = [f"{size:,}"]
    for curve in curves:
        row = next((row for row in curve.rows if row.batch_size == size), None)
        if row is None or row.steps is None:
            cells += ["not reached" if row is not None else "", "", ""]
            continue
        ends = interval(number(row.low), number(row.high))
        cells += [number(row.steps), ends, str(curve.region(row) or "")]
    return f"| {' | '.join(cells)} |"


def _noise_says(noise: dict[str, Any], curves: list[StepsCurve]) -> str:
    """Say how good the cheap estimate is."""
    measured = {_optimizer(curve): curve.fit.value for curve in curves if isinstance(curve.fit, CriticalBatch)}
    ratios = [
        f"{noise['value'] / value:.2g} times the critical batch size of `{name}`" for name, value in measured.items()
    ]
    low, high = (f"{noise[end]:,.0f}" if noise[end] is not None else "?" for end in ("low", "high"))
    return (
        f"The gradient noise scale of a short training run is {noise['value']:,.0f} ({low} to {high}), which is "
        f"{' and '.join(ratios)}: {_judged([noise['value'] / value for value in measured.values()])}. It does not "
        "depend on the optimizer, and was measured before the target was reached. The dotted line shows what it would "
        "predict."
    )


def _judged(ratios: list[float]) -> str:
    if all(1 / _GOOD_GUESS <= ratio <= _GOOD_GUESS for ratio in ratios):
        return "the right order of magnitude"
    return "as an estimate it is too large" if max(ratios) > _GOOD_GUESS else "as an estimate it is too small"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
