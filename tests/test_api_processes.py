"""The Python API with workers and jobs: classes that no file has, threads, interrupts, and failures elsewhere."""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import scalewise as sw
from host_state import state
from processes import ROOT, group, wait_until
from python_workloads import SHORT, Broken, Circle, Locked, Mistaken, Normalised


def test_a_run_is_the_same_however_it_is_trained(here: Path) -> None:
    before = state()
    two = sw.train(Normalised(), **SHORT, workers=2, exact=True, out="two")
    assert state() == before
    one = sw.train(Normalised(), **SHORT, exact=True, out="one")
    steps = sw.loop(Normalised(), **SHORT, exact=True)
    results = list(steps)
    assert state() == before
    assert sorted(path.name for path in here.glob("[!.]*")) == ["one", "two"], "a loop writes nothing"
    assert (two.path / "model.safetensors").read_bytes() == (one.path / "model.safetensors").read_bytes()
    for name, weights in steps.model().state_dict().items():
        assert torch.equal(weights, load_file(one.path / "model.safetensors")[name]), name
    assert isinstance(results[-1], sw.Stopped) and results[-1].step == 6
    measured = [result.metrics for result in results if isinstance(result, sw.EvalResult)]
    assert measured == [{k: v for k, v in row.items() if k != "step"} for row in one.measurements.to_dicts()]


@pytest.mark.parametrize(
    ("module", "name"),
    [("hugging_face", "Manual"), ("multi_label", "Labels"), ("ragged", "Sums"), ("two_inputs", "Pairs")],
)
def test_every_kind_of_workload_can_be_given(
    here: Path, module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples")
    workload = getattr(importlib.import_module(module), name)()
    run = sw.train(workload, **SHORT, workers=2, exact=True, out="run")
    steps = sw.loop(workload, **SHORT, exact=True)
    assert [type(result) for result in steps][-1] is sw.Stopped
    weights = run.model().state_dict()
    for key, tensor in steps.model().state_dict().items():
        assert torch.equal(tensor, weights[key]), key
    assert "data:image/png" in run._repr_html_()


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
