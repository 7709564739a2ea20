"""The examples: each under the law, resumed, and its saved weights judged by the network's own code."""

import importlib
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from processes import ROOT, Run, train
from scalewise.workloads.base import Workload
from scalewise.workloads.loading import load_splits
from whole_examples import assert_every_command_takes, assert_same_bits_on_more_workers_and_after_a_stop

EXAMPLES = {
    "Manual": "hugging_face",
    "Labels": "multi_label",
    "Sums": "ragged",
    "Waves": "regression",
    "Spirals": "spirals",
    "Pairs": "two_inputs",
}
UNEVEN = ("--set", "recipe.global_batch=22", "--set", "recipe.microbatch=5")  # 5 microbatches, the last one of 2
QUICK = ("--exact", *UNEVEN, "--set", "stop.target=null", "--set", "stop.steps=8", "--set", "evaluate.every_steps=4")
STOPPED = ROOT / "tests" / "workloads" / "stopped_examples.py"


def workload_of(name: str, monkeypatch: pytest.MonkeyPatch) -> Workload:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    workload: Workload = getattr(importlib.import_module(EXAMPLES[name]), name)()
    return workload


@pytest.fixture(scope="module", params=EXAMPLES)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Run]:
    name: str = request.param
    return name, train(1, f"{STOPPED}:{name}", tmp_path_factory.mktemp(name) / "run", *QUICK)


def test_the_same_bits_on_any_number_of_workers_and_after_a_stop(trained: tuple[str, Run], tmp_path: Path) -> None:
    name, alone = trained
    assert_same_bits_on_more_workers_and_after_a_stop(alone, f"{STOPPED}:{name}", QUICK, tmp_path)


def test_the_saved_weights_do_in_the_original_network_what_was_recorded(
    trained: tuple[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, run = trained
    workload = workload_of(name, monkeypatch)
    model = workload.model()
    model.load_state_dict(run.weights)
    examples = load_splits(workload)["val"].part(0, 10**9)
    inputs = examples.inputs
    with torch.no_grad():  # as somebody would who knows nothing of scalewise
        model.eval()
        outputs = (
            model(**inputs)
            if isinstance(inputs, dict)
            else model(*inputs)
            if isinstance(inputs, tuple)
            else model(inputs)
        )
        metrics = workload.metrics(outputs, examples.targets)
    for metric, values in metrics.items():
        assert figure(workload, metric, values) == pytest.approx(float(run.rows[-1][f"val/{metric}"]), rel=1e-5), metric


def figure(workload: Workload, name: str, values: Any) -> float:
    metric = workload.metric(name)
    if metric.of_all is not None:
        return metric.of_all(*values)
    sums, weights = values if isinstance(values, tuple) else (values, torch.ones(len(values)))
    mean = float(sums.double().sum() / weights.double().sum())
    return math.exp(mean) if name == "perplexity" else mean


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_command_takes_every_example(name: str, tmp_path: Path) -> None:
    assert_every_command_takes(f"{ROOT}/examples/{EXAMPLES[name]}.py:{name}", tmp_path)
