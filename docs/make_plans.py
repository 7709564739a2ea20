"""Writes plans.md, its results and its picture: plans from figures that others published: `make plans`."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalewise.plan.sentences import reach
from scalewise.record.results.plan import Offer, PlanFile
from scalewise.words import duration, money, percent

_HERE = Path(__file__).parent
_RESULTS = _HERE / "results" / "plans.json"

_STEPS_LINE = (
    """awk -F, 'NR == 1 {print "global_batch,steps,reached,learning_rate,cluster"} """
    """NR > 1 {print $2 "," $5 "," ($6 <= 5) "," $3 "," $1 " " $7}' """
    """examples/ddsp_cluster_runs.csv > "$OUT/steps.csv\""""
)
_SPEED_LINE = (
    """awk -F, 'NR == 1 {print "cluster,workers,global_batch,step_seconds,workers_per_node"} """
    """NR > 1 {split($7, n, "x"); print $1 " " $7 "," n[1] * n[2] "," $2 "," 3600 * $8 / $5 "," n[2]}' """
    """examples/ddsp_cluster_runs.csv > "$OUT/throughput.csv\""""
)
_EPOCHS_LINE = (
    """awk -F, 'NR == 1 {print "global_batch,steps,reached,learning_rate,accuracy"} """
    """NR > 1 {print $6 "," 90 * 1281167 / $6 ",1," $4 "," $8}' """
    """examples/resnet50_quality.csv > "$OUT/epochs.csv\""""
)
_T4 = "T4 1x1,T4 1x2,T4 1x4,T4 2x4,T4 4x2"
_PLAN = (
    'scalewise plan --steps "$OUT/steps.csv" --throughput "$OUT/throughput.csv" '
    '--clusters examples/ddsp_clusters.yaml --out "$OUT/plan"'
)
_PLAN_EPOCHS = (
    'scalewise plan --steps "$OUT/epochs.csv" --throughput examples/p100_throughput.csv '
    '--clusters examples/p100_clusters.yaml --out "$OUT/resnet50"'
)
_PREDICT = "scalewise predict examples/p100_throughput.csv --up-to 8"

_PAGE = """# Plans from published figures

You can plan without training anything yourself: two tables and a list of clusters are enough. `make plans` makes this
page from tables in `examples/`; the numbers are in `docs/results/plans.json`.

## Which cloud cluster for an audio model

`examples/ddsp_cluster_runs.csv` has 42 runs of the DDSP audio autoencoder on rented GPUs: batch size, learning rate,
steps, hours, price. A run reached the target when its loss fell to 5. Two commands make the tables (`OUT` is a folder):

```
{steps_line}
{speed_line}
```

Those runs need not give the same model on every cluster. So the column `cluster` says which cluster the steps of a row
are for. Steps that `scalewise` measured need no such column.

```
{plan} --only "{t4}"
```

{t4_table}

{t4_says}

Runs with batch 16 that were stopped at 30,000 steps are left out, because the runs that reached the target took at
least 39,401 steps. Batch 64 with a learning rate of 0.0003 is different: one of its three runs took 30,000 steps and
did not reach the target, while the other two took 20,000. So every two successful runs pay for one failure. The
expected cost is {risky_cost} units instead of {naive_cost}, and this setting is not the cheapest. `--reliability 1.0`
would exclude it.

With the V100 allowed, the frontier is:

{all_table}

![Time against cost of every cluster and batch size, with the frontier](pictures/plan.png)

## How far 32 GPUs can be predicted from 8

`examples/p100_throughput.csv` is a published scaling table: five series on up to 32 P100 GPUs in nodes of four. The
[speed model](guide.md#plan) is fitted to at most 8 workers and predicts the rest:

```
{predict}
```

{error_table}

{predict_says}

## 90 epochs of ResNet-50

A plan can also be for a fixed number of epochs: every batch size then reaches its target after as many steps as those
epochs have. `examples/resnet50_quality.csv` has the accuracy after 90 epochs of ImageNet, which the plan shows too:

```
{epochs_line}
{plan_epochs}
```

{epochs_table}

The last column has the published hours of the same training, evaluation included. There are no prices, so the plan is
about time only.
"""

_PUBLISHED_HOURS = {1: 148.267, 8: 20.583, 16: 11.25, 24: 8.117, 32: 6.55}


def main() -> None:
    """Run every command of the page, and write down what came out."""
    with tempfile.TemporaryDirectory() as out:
        for line in (_STEPS_LINE, _SPEED_LINE, _EPOCHS_LINE):
            _run(line, out)
        small = _plan(f'{_PLAN} --only "{_T4}"', out)
        everything = _plan(_PLAN, out)
        shutil.copy(Path(out) / "plan" / "plan.png", _HERE / "pictures" / "plan.png")
        epochs = _plan(_PLAN_EPOCHS, out)
        predicted = json.loads(_run(f"{_PREDICT} --json", out))
    results = {
        "t4": _kept(small),
        "everything": _kept(everything),
        "p100": {name: predicted[name] for name in ("mean_error", "mean_error_of_same_speed", "predictions", "says")},
        "resnet50": _kept(epochs),
    }
    _RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    (_HERE / "plans.md").write_text(_page(small, everything, epochs, predicted), encoding="utf-8")


def _run(line: str, out: str) -> str:
    scalewise = Path(sys.executable).with_name("scalewise")
    line = line.replace("scalewise ", f"{scalewise} ", 1) if line.startswith("scalewise") else line
    command = ["bash", "-c", f"OUT={out}; {line}"]
    return subprocess.run(command, check=True, cwd=_HERE.parent, capture_output=True, text=True).stdout


def _plan(line: str, out: str) -> PlanFile:
    return PlanFile.parse(_run(f"{line} --json", out).encode(), line)


def _kept(plan: PlanFile) -> dict[str, Any]:
    """Return what does not name a folder of this machine."""
    unnamed = {"recipe": True, "command": True}
    return plan.model_dump(
        mode="json",
        include={"fastest", "cheapest", "frontier", "candidates", "says", "left_out"},
        exclude={"fastest": unnamed, "cheapest": unnamed},
    )


def _page(small: PlanFile, everything: PlanFile, epochs: PlanFile, predicted: dict[str, Any]) -> str:
    (risky,) = [one for one in small.candidates if (one.global_batch, one.learning_rate) == (64, 0.0003)]
    assert risky.cost and risky.steps and risky.expected_steps
    return _PAGE.format(
        steps_line=_STEPS_LINE,
        speed_line=_SPEED_LINE,
        plan=_PLAN,
        t4=_T4,
        t4_table=_plan_table(small.frontier),
        t4_says=" ".join(small.says[: len(small.choices)]),
        risky_cost=money(risky.cost),
        naive_cost=money(risky.cost * risky.steps / risky.expected_steps),
        all_table=_plan_table(everything.frontier),
        predict=_PREDICT,
        error_table=_error_table(predicted["predictions"]),
        predict_says="\n".join(f"* {sentence}" for sentence in predicted["says"]),
        epochs_line=_EPOCHS_LINE,
        plan_epochs=_PLAN_EPOCHS,
        epochs_table=_epochs_table(epochs.candidates),
    )


def _plan_table(points: Sequence[Offer]) -> str:
    rows = [
        f"| {one.cluster} | {one.global_batch} | {one.learning_rate:g} | {one.steps:,.0f} | "
        f"{one.step_seconds:.2f} | {duration(one.hours)} | {money(one.cost)} | {reach(one.reliability, one.runs)} |"
        for one in points
    ]
    head = "| cluster | batch | learning rate | steps | s/step | time | cost, units | reached the target |"
    return "\n".join([head, "|---|---:|---:|---:|---:|---:|---:|---:|", *rows])


def _error_table(predictions: list[dict[str, Any]]) -> str:
    rows = []
    for one in predictions:
        errors = (abs(one[name] / one["measured"] - 1) for name in ("step_seconds", "same_speed"))
        cells = [one["cluster"], f"{one['global_batch'] // one['workers']}", f"{one['workers']}"]
        cells += [f"{one['measured']:.3f}", f"{one['step_seconds']:.3f} ({one['low']:.3f} to {one['high']:.3f})"]
        rows.append(f"| {' | '.join([*cells, *(percent(error, decimals=1) for error in errors)])} |")
    head = "| cluster | examples per worker | workers | measured, s | predicted, s | error | error at same speed |"
    return "\n".join([head, "|---|---:|---:|---:|---:|---:|---:|", *rows])


def _epochs_table(candidates: Sequence[Offer]) -> str:
    best: dict[int, Offer] = {}
    for one in candidates:
        there = best.get(one.workers)
        if there is None or (one.hours, -(one.accuracy or 0.0)) < (there.hours, -(there.accuracy or 0.0)):
            best[one.workers] = one
    rows = []
    for workers, one in sorted(best.items()):
        published = f"{_PUBLISHED_HOURS[workers]:.1f}" if workers in _PUBLISHED_HOURS else ""
        origin = "predicted" if one.predicted else "measured"
        cells = [f"{workers}", f"{one.global_batch:,}", f"{one.learning_rate:g}", f"{one.hours:.1f}"]
        rows.append(f"| {' | '.join([*cells, str(round(one.accuracy or 0.0, 1)), origin, published])} |")
    head = "| workers | batch | learning rate | hours | top-1 accuracy, % | step time | hours published |"
    return "\n".join([head, "|---:|---:|---:|---:|---:|---|---:|", *rows])


if __name__ == "__main__":
    main()
