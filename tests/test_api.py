"""The Python API: what `import scalewise as sw` gives, in this process, in workers and in jobs."""

import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
import torch
from safetensors.torch import load_file

import scalewise
import scalewise as sw
from processes import ROOT, group
from python_workloads import Broken, Circle, Locked, Mistaken, Normalised
from scalewise.api.settings import overrides
from test_host import state

NAMES = [
    *("Advice", "Analysis", "Bench", "Classification", "Comparison", "Curve", "Diverged", "EvalResult", "Failed"),
    *("Interrupted", "Metric", "Noise", "NoiseMeter", "Plan", "Prediction", "Report", "Run", "ScalewiseError"),
    *("Status", "StepResult", "Steps", "Stopped", "Study", "UserError", "Workload"),
    *("advise", "analyze", "bench", "compare", "loop", "noise", "plan", "predict", "report", "study", "train"),
    "workloads",
]
SHORT: dict[str, Any] = {"stop": {"steps": 6, "target": None, "epochs": None}}


def in_new_python(code: str, cwd: Path = ROOT) -> str:
    """Run a few lines in a Python of their own; they must print nothing but what is asked for."""
    ended = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_names_are_these() -> None:
    assert scalewise.__all__ == NAMES
    assert {*NAMES, "open", "__version__"} <= set(dir(sw))
    for name in [*NAMES, "open"]:
        assert callable(getattr(sw, name)), name
        assert getattr(sw, name).__doc__, name
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        sw.trian  # noqa: B018


def test_every_function_has_an_example() -> None:
    functions = [
        getattr(sw, name) for name in [*NAMES, "open", "NoiseMeter"] if name[0].islower() or name == "NoiseMeter"
    ]
    assert [one for one in functions if ">>> " not in one.__doc__] == []


def test_names_load_when_they_are_used() -> None:
    code = """
import sys, scalewise as sw
assert not {"torch", "matplotlib", "polars", "numpy"} & set(sys.modules), "on import"
sw.plan, sw.analyze, sw.predict, sw.report, sw.study, sw.train, sw.open, sw.Run, sw.Plan, sw.UserError, sw.NoiseMeter
steps = [{"global_batch": b, "steps": 1000 + 64_000 / b, "reached": True} for b in (64, 256, 1024)]
speed = [{"cluster": "c", "workers": n, "global_batch": 64 * n, "step_seconds": 0.2} for n in (1, 4, 16)]
made = sw.plan(steps=steps, speed=speed, clusters=[{"name": "c", "nodes": "1..16", "price_per_hour": 1.0}])
assert made.fastest.workers == 16
assert sw.analyze(steps).critical_batch.value
print(sorted({"torch", "matplotlib"} & set(sys.modules)))
"""
    assert in_new_python(code) == "[]\n"


def test_rooms_can_be_called_and_imported_from() -> None:
    code = """
import inspect, scalewise.study.space as space, scalewise as sw
import scalewise.workloads as workloads
from scalewise.plan.plan import multiply
assert space.Parameter and workloads.Classification is sw.Classification
print([sw.study.__name__, *list(inspect.signature(sw.study).parameters)[:3]])
"""
    assert in_new_python(code) == "['scalewise.study', 'workload', 'batch_sizes', 'out']\n"
    assert inspect.signature(sw.plan) == inspect.signature(sw.plan.__wrapped__)  # type: ignore[attr-defined]


def test_a_workload_may_name_the_package() -> None:
    """Methods that use `sw` are handed to workers with it."""
    for module in (sw, sw.study, sw.workloads):
        assert pickle.loads(cloudpickle.dumps(module)) is module


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_the_same_however_it_is_trained(here: Path) -> None:
    before = state()
    two = sw.train(Normalised(), **SHORT, workers=2, exact=True, out="two")
    assert state() == before
    one = sw.train(Normalised(), **SHORT, exact=True, out="one")
    steps = sw.loop(Normalised(), **SHORT, exact=True)
    results = list(steps)
    assert state() == before
    assert sorted(path.name for path in here.iterdir()) == ["one", "two"], "a loop writes nothing"
    assert (two.path / "model.safetensors").read_bytes() == (one.path / "model.safetensors").read_bytes()
    for name, weights in steps.model().state_dict().items():
        assert torch.equal(weights, load_file(one.path / "model.safetensors")[name]), name
    assert isinstance(results[-1], sw.Stopped) and results[-1].step == 6
    measured = [result.metrics for result in results if isinstance(result, sw.EvalResult)]
    assert measured == [{k: v for k, v in row.items() if k != "step"} for row in one.measurements.to_dicts()]


def test_a_run_says_what_it_is(here: Path) -> None:
    run = sw.train(Normalised(), recipe={"global_batch": 128}, stop="val/classification_error<0.6", workers=2)
    assert run.path == next(Path("runs/python/Normalised").iterdir()) and run.workload == "python:Normalised"
    assert run.status is sw.Status.COMPLETE and run.stopped_by == "target"
    assert run.steps == run.measurements["step"].to_list()[-1]
    assert run.config.recipe.global_batch == 128
    model = run.model()
    assert not model.training and [type(layer) for layer in model] == [type(layer) for layer in Normalised().model()]  # type: ignore[attr-defined]
    points, labels = Normalised().data()["val"]
    error = float((model(points).argmax(dim=1) != labels).float().mean())
    assert error == pytest.approx(run.measurements["val/classification_error"].to_list()[-1], abs=1e-6)
    assert "COMPLETE by target" in repr(run)
    html = run._repr_html_()
    assert "<table>" in html and "data:image/png;base64," in html and "python:Normalised" in html
    assert run.plot("cross_entropy_error").save("chart.svg").read_bytes().lstrip().startswith(b"<?xml")


def test_the_same_call_continues_the_same_run(here: Path) -> None:
    first = sw.train(Circle(), stop={"steps": 4, "target": None, "epochs": None})
    changed = (first.path / "model.safetensors").stat().st_mtime_ns
    again = sw.train(Circle(), stop={"steps": 4, "target": None, "epochs": None}, workers=2)
    assert again.path == first.path and (again.path / "model.safetensors").stat().st_mtime_ns == changed
    fresh = sw.train(Circle(), stop={"steps": 4, "target": None, "epochs": None}, fresh=True)
    assert fresh.path == first.path and (fresh.path / "model.safetensors").stat().st_mtime_ns > changed


def test_an_opened_run_has_a_model_too(here: Path) -> None:
    sw.train(Circle(), **SHORT, out="run")
    opened = sw.open("run")
    assert isinstance(opened, sw.Run)
    with pytest.raises(sw.UserError, match=r"python:Circle was given in Python: give it again"):
        opened.model()
    assert opened.model(Circle()).training is False
    named = sw.train("digits/fc_16", **SHORT, out="named")
    assert sw.Run("named").model().state_dict().keys() == named.model().state_dict().keys()


def test_another_workload_of_the_same_name_is_refused(here: Path) -> None:
    sw.train(Circle(), **SHORT, out="run")
    with pytest.raises(sw.UserError, match=r"run has results of another Circle: radius is 1.2 there and 1.5 now"):
        sw.train(Circle(radius=1.5), **SHORT, out="run")
    sw.train(Circle(radius=1.5), **SHORT, out="run", fresh=True)
    with pytest.raises(sw.UserError, match=r"radius is 1.5 there and 1.2 now"):
        sw.train(Circle(), **SHORT, out="run")

    class Another(Circle):
        def __repr__(self) -> str:
            return "another"

    Another.__name__ = "Circle"
    with pytest.raises(sw.UserError, match="its class has other code"):
        sw.train(Another(radius=1.5), **SHORT, out="run")


def test_a_thread_can_train_while_another_does(here: Path) -> None:
    before = state()
    runs: dict[float, sw.Run] = {}

    def train(radius: float, workers: int) -> None:
        runs[radius] = sw.train(Circle(radius), **SHORT, exact=True, workers=workers, out=str(radius))

    threads = [threading.Thread(target=train, args=one) for one in ((1.2, 2), (0.5, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for radius, run in runs.items():
        alone = sw.train(Circle(radius), **SHORT, exact=True, out=f"{radius}-alone")
        assert (alone.path / "model.safetensors").read_bytes() == (run.path / "model.safetensors").read_bytes()
    assert {thread.name for thread in threading.enumerate()} == before["threads of Python"]
    assert dict(os.environ) == before["environment"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_keeps_what_was_trained(here: Path, workers: int) -> None:
    before = state()
    stop = {"steps": 100_000_000, "target": None, "epochs": None}
    folder = Path("run") / "measurements.csv"
    watcher = threading.Thread(target=_interrupt_once, args=(folder.absolute(),))
    watcher.start()
    try:
        with pytest.raises(sw.Interrupted, match=r"the run in run was stopped after .* steps; the same call continues"):
            sw.train(Circle(), stop=stop, workers=workers, out="run", settings={"performance.compile": False})
    finally:
        watcher.join()
    assert state() == before
    run = sw.Run("run")
    assert run.status is sw.Status.INCOMPLETE and run.steps > 0 and run.stopped_by == "signal"
    with pytest.raises(sw.UserError, match="no final weights: the run is INCOMPLETE"):
        run.model(Circle())


def _interrupt_once(file: Path) -> None:
    """Press Ctrl-C when a few evaluations are there."""
    from processes import wait_until

    wait_until(lambda: file.exists() and len(file.read_text().splitlines()) > 4, "training goes on")
    os.kill(os.getpid(), signal.SIGINT)


def test_what_cannot_be_handed_over_is_a_sentence(here: Path) -> None:
    assert sw.train(Locked(), **SHORT, out="alone").steps == 6
    with pytest.raises(
        sw.UserError, match=r"python:Locked cannot be handed to other processes: .*lock.*inside data\(\)"
    ):
        sw.train(Locked(), **SHORT, workers=2, out="together")
    with pytest.raises(sw.UserError, match="python:Locked cannot be handed to other processes"):
        sw.study(Locked(), batch_sizes=[64], trials=1, max_steps=2, out="study")


def test_what_a_worker_says_is_in_the_exception(here: Path) -> None:
    with pytest.raises(sw.UserError, match="this network needs a license"):
        sw.train(Mistaken(), **SHORT, workers=2, out="mistaken")
    with pytest.raises(sw.Failed, match=r"(?s)Traceback.*ZeroDivisionError: the loss divides by zero"):
        sw.train(Broken(), **SHORT, workers=2, out="broken")
    with pytest.raises(ZeroDivisionError):
        sw.train(Broken(), **SHORT, out="broken alone")
    with pytest.raises(sw.Failed, match=r"(?s)Traceback.*ZeroDivisionError: the loss divides by zero"):
        sw.study(Broken(), batch_sizes=[64], trials=1, max_epochs=4, out="broken study")
    with pytest.raises(sw.UserError, match="unknown metric 'val/nothing'"):
        sw.train(Circle(), stop="val/nothing<1", workers=2, out="no such metric")


@pytest.mark.parametrize(
    ("workload", "keywords", "message"),
    [
        (Circle, {}, r"Circle is a class: give an object of it, Circle\(\)"),
        (3, {}, "a workload is a name such as 'digits/fc_64', or an object .* not int"),
        ("digits/fc_64", {"recipe": {"learning_rat": 1}}, "did you mean 'recipe.learning_rate'"),
        ("digits/fc_64", {"recipe": {"learning_rate": object()}}, "a setting is a number, a text"),
        ("digits/fc_64", {"recipe": "linea"}, "'linea' is neither a recipe file nor a preset; did you mean 'linear'"),
        ("digits/fc_64", {"stop": "error below 3"}, "is not like 'val/classification_error<0.05'"),
        ("digits/fc_64", {"settings": {"evaluate.every": 3}}, "unknown key 'evaluate.every'"),
        ("nothing.py:Mine", {}, "the workload file nothing.py does not exist"),
    ],
)
def test_mistakes(here: Path, workload: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(sw.UserError, match=message):
        sw.train(workload, **keywords)
    assert list(here.iterdir()) == []


def test_settings_are_said_as_the_command_line_says_them() -> None:
    import numpy as np

    assert overrides({"recipe": {"seed": 1}, "stop": {"steps": 2}, "workload": "x"}) == (
        "recipe.seed=1",
        "stop.steps=2",
    )
    assert overrides({"learning_rate": np.float64(0.5), "seed": np.int64(3)}) == (
        "recipe.learning_rate=0.5",
        "recipe.seed=3",
    )
    assert overrides({"drop_at": ["2 epochs"], "exact": True}) == ("recipe.drop_at=[2 epochs]", "recipe.exact=true")
    assert overrides(stop="train_loss<5.0") == ("stop.loss=train_loss<5.0",)
    assert overrides(settings={"noise_scale": {"every_steps": 1}}) == ("noise_scale.every_steps=1",)


def test_the_command_line_says_that_it_was_given_in_python(here: Path) -> None:
    sw.train(Circle(), **SHORT, out=here / "run")
    ended = group(1, "train", "python:Circle", "--out", here / "run")
    sentence = "scalewise: python:Circle was given in Python: give it again there, as in scalewise.train(Circle())"
    assert (ended.exit_code, ended.output.strip()) == (2, sentence)
    assert group(1, "report", here / "run").exit_code == 0
    assert "scalewise.train(Circle(), recipe=" in (here / "run" / "report.md").read_text()


SCRIPT = '''
"""A script without a guard, with a class that nobody can import."""
import json
import sys

import torch
from torch import nn

import scalewise as sw


class Line(sw.Classification):
    defaults = {"recipe": {"global_batch": 32, "microbatch": 8}, "stop": {"epochs": 2}}

    def data(self):
        assert sw.Metric  # a method may use the package
        points = torch.randn(256, 2, generator=torch.Generator().manual_seed(0))
        labels = (points[:, 0] > LIMIT).long()
        return {"train": (points[:192], labels[:192]), "val": (points[192:], labels[192:])}

    def model(self):
        return nn.Linear(2, 2)


LIMIT = 0.1
print("once", flush=True)
run = sw.train(Line(), workers=2, out="run")
RATES = {"learning_rate": {"type": "DOUBLE", "min_value": 0.1, "max_value": 1, "scale": "LOG_SCALE"}}
study = sw.study(Line(), batch_sizes=[16, 32, 64], trials=2, max_epochs=5, jobs=2, space=RATES, out="study",
                 target="val/classification_error<0.1")
speeds = sw.bench(Line(), workers=[1, 2], microbatch=[8, 16], seconds=0.2, out="bench")
compared = sw.compare(Line(), recipes=["linear"], global_batch=64, baseline_batch=16, epochs=2, out="compare",
                      workers=2)
noise = sw.noise(Line(), steps=8, workers=2)
planned = sw.plan(steps=study, speed=speeds, clusters=[{"name": "local", "workers_per_node": 2, "price_per_hour": 1}],
                  out="plan")
report = sw.report([run, study, speeds, compared, planned], out="report")
again = sw.train(Line(), recipe=planned.recipe("fastest"), out="as planned")
print(json.dumps({
    "run": run.status, "trials": len(study.trials), "points": len(speeds.table()), "recipes": len(compared.table()),
    "noise": noise.noise_scale.steps, "again": again.config.recipe.global_batch == planned.fastest.global_batch,
    "planned": planned.fastest.command, "torch": "torch" in sys.modules,
}))
'''


def test_a_script_without_a_guard_does_everything(here: Path) -> None:
    (here / "script.py").write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, "script.py"], cwd=here, capture_output=True, text=True, timeout=300, env={**os.environ}
    )
    assert ended.returncode == 0, ended.stderr
    once, found = ended.stdout.splitlines()
    content = json.loads(found)
    assert once == "once" and content.pop("planned").startswith(
        "scalewise.train(Line(), recipe='plan/fastest/run.yaml'"
    )
    assert content == {
        "run": "COMPLETE",
        "trials": 6,
        "points": 4,
        "recipes": 2,
        "noise": 2,
        "again": True,
        "torch": True,
    }
    page = (here / "report" / "report.md").read_text()
    for call in ("train(Line()", "study(Line()", "bench(Line()", "compare(Line()"):
        assert f"scalewise.{call}" in page
    for folder, kind in (("run", sw.Run), ("study", sw.Study), ("bench", sw.Bench), ("compare", sw.Comparison)):
        opened = sw.open(here / folder)
        assert isinstance(opened, kind) and "<table>" in opened._repr_html_() and folder in repr(opened)
    assert isinstance(sw.open(here / "plan"), sw.Plan)
    assert sw.Study(here / "study").measurements.columns[:4] == [
        "workload",
        "batch_size",
        "step",
        "train/cross_entropy_error",
    ]


def test_advice_from_python(here: Path) -> None:
    clusters = [{"name": "this machine", "workers_per_node": 1, "price_per_hour": 1.0, "currency": "EUR"}]
    advice = sw.advise(Circle(), target="val/classification_error<0.3", minutes=0.5, clusters=clusters, out="advice")
    assert advice.says[0].startswith("Critical batch size") and advice.pilot.steps
    assert len(advice.bench.table()) and isinstance(sw.open("advice"), sw.Advice)
    assert "Critical batch size" in advice._repr_html_() and "Advice advice" in repr(advice)


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
            "no speed was measured of the cluster 'd'",
        ),
        (lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=[{"nome": "c"}]), "^clusters.yaml, cluster .*'?nome"),
        (lambda: sw.plan(steps=STEPS, speed=SPEED, clusters=CLUSTERS, budget=-1), "--budget -1 should be more than 0"),
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


def test_several_curves(here: Path) -> None:
    for name in ("digits/fc_16", "digits/fc_32"):
        target = "val/classification_error<0.7"
        sw.study(name, batch_sizes=[64, 128, 256], trials=2, max_epochs=4, target=target, out="study")
    found = sw.analyze("study")
    assert len(found) == 2 and "workload" in found.table().columns and "2 curves" in repr(found)
    with pytest.raises(sw.UserError, match=r"there are 2 curves \(.*\): choose one of .curves"):
        _ = found.critical_batch
    with pytest.raises(sw.UserError, match=r"is past .* before its first step, at batch size 64: choose a target that"):
        sw.analyze("study", target="val/classification_error<0.999")
    speed = [{"cluster": "c", "workers": 1, "global_batch": b, "step_seconds": 0.1} for b in (64, 128, 256)]
    planned = sw.plan(steps=found[1], speed=speed, clusters=[{"name": "c"}])
    assert planned.fastest is not None and "fc_32" in str(planned.file.model_dump()) + found[1].name
    assert "<table>" in found._repr_html_() and sw.workloads().height > 5
