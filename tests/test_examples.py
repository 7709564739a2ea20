"""The examples: each under the law, resumed, and its saved weights judged by the network's own code."""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from processes import ROOT, Run, group, train
from scalewise.workloads.base import Workload
from scalewise.workloads.loading import load_splits

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
    name, reference = trained
    for workers in (2, 3):
        run = train(workers, f"{STOPPED}:{name}", tmp_path / str(workers), *QUICK)
        assert run.bits == reference.bits
        assert run.rows == reference.rows
    plan = {"do": "SIGTERM", "rank": 1, "count": 9, "during": "loss", "once": str(tmp_path / "once")}
    env = {"SCALEWISE_TEST_MISCHIEF": json.dumps(plan)}
    ended = group(2, "train", f"{STOPPED}:{name}", "--out", tmp_path / "run", *QUICK, env=env)
    assert ended.exit_code == 4, ended.output
    resumed = train(1, f"{STOPPED}:{name}", tmp_path / "run", *QUICK)
    assert "continues from the checkpoint" in resumed.output
    assert resumed.bits == reference.bits and resumed.rows == reference.rows


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
    workload = f"{ROOT}/examples/{EXAMPLES[name]}.py:{name}"
    commands = {
        "bench": ("--workers", "1", "--microbatch", "8,16", "--seconds", "0.3"),
        "noise": ("--steps", "8", "--set", "recipe.global_batch=16", "--set", "recipe.microbatch=4"),
        "study": ("--batch-sizes", "16,32", "--trials", "1", "--max-steps", "6", "--jobs", "1"),
        "compare": ("--recipes", "naive", "--epochs", "0.05", "--baseline-batch", "16", "--global-batch", "32"),
        "advise": ("--minutes", "0.1"),
    }
    for command, arguments in commands.items():
        ended = group(1, command, workload, *arguments, "--out", tmp_path / command)
        assert ended.exit_code == 0, f"{command}: {ended.output}"
    folders = [tmp_path / command for command in ("bench", "compare", "study", "advise")]
    ended = group(1, "report", *folders, "--out", tmp_path / "report")
    assert ended.exit_code == 0, ended.output
    page = (tmp_path / "report" / "report.md").read_text()
    assert all(f"# {kind}: " in page for kind in ("Bench", "Comparison", "Study", "Advice")), page
