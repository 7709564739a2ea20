"""Tables from anywhere, given to the Python API, and results that show themselves; nothing is left on the disk."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import scalewise as sw

STEPS: Sequence[dict[str, Any]] = [
    {"global_batch": b, "steps": 100 * (1 + 512 / b), "reached": True, "learning_rate": None}
    for b in (8, 64, 512, 4096)
]
SPEED: Sequence[dict[str, Any]] = [
    {"cluster": "c", "workers": n, "global_batch": 64 * n, "step_seconds": 0.1 + 0.001 * n} for n in (1, 4, 16, 64)
]
CLUSTERS: Sequence[dict[str, Any]] = [
    {"name": "c", "nodes": "1..8", "workers_per_node": 8, "price_per_hour": 2.0, "currency": "EUR"}
]


@pytest.mark.parametrize("library", ["lists", "polars", "pandas", "columns", "files"])
def test_tables_from_anywhere_and_nothing_on_disk(here: Path, library: str) -> None:
    steps, speed, clusters = (_as(library, table, here) for table in (STEPS, SPEED, CLUSTERS))
    there = sorted(here.rglob("*"))
    curve = sw.analyze(steps)
    assert curve.critical_batch.value == pytest.approx(512, rel=0.01)
    assert curve.table()["batch_size"].to_list() == [8, 64, 512, 4096]
    planned = sw.plan(steps=curve, speed=speed, clusters=clusters, deadline_hours=12, budget=1.0)
    assert planned.fastest is not None and planned.fastest.workers == 32
    assert planned.cheapest_within_deadline is not None and planned.cheapest_within_deadline.hours < 12
    assert sw.predict(speed, workers=128).table()["workers"].to_list() == [128]
    assert planned.plot()._repr_html_().startswith("<figure")
    assert sorted(here.rglob("*")) == there
    assert planned.recipe("cheapest")["recipe"]["global_batch"] == planned.cheapest.global_batch  # type: ignore[union-attr]
    sw.report(planned, out="report")
    assert sorted(path.name for path in (here / "report").iterdir())[:2] == ["plan_1", "report.html"]


def _as(library: str, rows: Sequence[dict[str, Any]], folder: Path) -> Any:
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame(rows)
    if library == "polars":
        return pytest.importorskip("polars").DataFrame(rows)
    if library == "columns":
        return {name: [row[name] for row in rows] for name in rows[0]}
    if library == "files":
        name = (rows[0].get("name") and "clusters.yaml") or f"{next(reversed(rows[0]))}.csv"
        from scalewise.api.tables import Files

        files = Files(folder)
        return files.clusters(name, rows) if name.endswith("yaml") else files.table(name, rows)
    return rows


def test_a_plan_with_a_folder_keeps_its_tables(here: Path) -> None:
    planned = sw.plan(steps=STEPS, speed=SPEED, clusters=CLUSTERS, out="plan")
    assert {"steps.csv", "throughput.csv", "clusters.yaml", "plan.json", "plan.png"} <= {
        one.name for one in Path("plan").iterdir()
    }
    assert planned.file.asked is not None and planned.file.asked.steps == Path("plan/steps.csv")
    assert sw.plan(steps="plan/steps.csv", speed="plan/throughput.csv", clusters="plan/clusters.yaml").fastest == (
        _without_files(planned.fastest)
    )
    assert isinstance(sw.analyze(STEPS, out="analysis").path, Path) and Path("analysis/steps.png").exists()


def _without_files(choice: Any) -> Any:
    import dataclasses

    return dataclasses.replace(choice, recipe=None, command=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sw.analyze([{"global_batch": 8, "steps": "x", "reached": 1}]),
            "^steps.csv, line 2: steps='x' is not a number",
        ),
        (lambda: sw.analyze([{"steps": 3}]), "^steps.csv has no column 'global_batch'"),
        (lambda: sw.analyze(3), "^steps.csv should be a file, a data frame or a list of dictionaries, not int"),
        (lambda: sw.analyze("nothing.csv"), "cannot read nothing.csv"),
        (
            lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=[{"name": "d"}]),
            "there is no measured speed of the cluster",
        ),
        (lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=[{"nome": "c"}]), "^clusters.yaml, cluster .*'?nome"),
        (lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=CLUSTERS, budget=-1), "--budget -1 must be greater than 0"),
        (lambda: sw.report([]), "a report needs something"),
        (lambda: sw.report([sw.analyze(STEPS)]), "Analysis is none, but shows itself"),  # type: ignore[list-item]
        (lambda: sw.open("nothing"), "there is no folder nothing"),
        (lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=CLUSTERS).recipe("dearest"), "no choice 'dearest'"),
        (lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=CLUSTERS).plot("x"), "Plan has no chart 'x'; there are"),
        (lambda: sw.NoiseMeter(microbatch=0), r"NoiseMeter\(microbatch=0\)"),
        (lambda: sw.NoiseMeter(microbatch=4).end_step(), r"end_step\(\) has no gradients"),
    ],
)
def test_mistakes_in_tables(here: Path, call: Any, message: str) -> None:
    with pytest.raises(sw.UserError, match=message):
        call()
    assert list(here.iterdir()) == []


def test_whatever_is_in_a_name_shows_as_itself(here: Path) -> None:
    clusters = [{**CLUSTERS[0], "name": "<script>$x$", "speed": "c"}]
    html = sw.plan(steps=STEPS, speed=SPEED, clusters=clusters)._repr_html_()
    assert "<script" not in html and "&lt;script&gt;<span>$</span>x" in html
