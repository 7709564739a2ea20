"""The Python API in this process: its names, what a run is, and mistakes."""

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
import torch

import scalewise
import scalewise as sw
from processes import ROOT
from python_workloads import SHORT, Circle
from scalewise.api.settings import overrides

NAMES = [
    *("Advice", "Analysis", "Bench", "Classification", "Comparison", "Curve", "Diverged", "EvalResult", "Failed"),
    *("Interrupted", "Metric", "Noise", "NoiseMeter", "Plan", "Prediction", "Report", "Run", "ScalewiseError"),
    *("Status", "StepResult", "Steps", "Stopped", "Study", "UserError", "Workload"),
    *("advise", "analyze", "bench", "compare", "loop", "noise", "plan", "predict", "report", "study", "train"),
    "workloads",
]


def in_new_python(code: str, cwd: Path = ROOT) -> str:
    """Run a few lines in a Python of their own; they must print nothing but what is asked for."""
    # Not traced: that would load torch first.
    env = {name: value for name, value in os.environ.items() if name != "SCALEWISE_TEST_COVERAGE"}
    ended = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=120, env=env)
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
        defaults = {**Circle.defaults}

        def data(self) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
            return super().data()

    Another.__name__ = "Circle"
    with pytest.raises(sw.UserError, match=r"results of another Circle: data\(\) has other code; use another out"):
        sw.train(Another(radius=1.5), **SHORT, out="run")


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
