"""Networks of many kinds: each trains, and its saved weights do the same in its own code; or it is refused at once."""

from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from processes import ROOT, Run, group, train
from scalewise.workloads import Workload
from scalewise.workloads.find import find_workload

MODELS = ROOT / "tests" / "workloads" / "models.py"
TRAINED = [
    *("Tied", "FrozenWeights", "Unused", "OwnBuffers", "WeightNorm", "Recurrent", "Attention", "ViewedFilters"),
    *("NormWithActivation", "SharedNorm", "FrozenNorm", "SeveralOutputs", "NamedOutputs", "ObjectOutputs"),
]
REFUSED = {
    "Lazy": "'2.weight' of the workload's model gets its shape from the first inputs",
    "Meta": "'2.weight' of the workload's model is on the meta device",
    "Double": "must have float32 parameters; 1.weight has not",
    "Half": "must have float32 parameters; 1.weight has not",
    "NoModule": "must return a torch.nn.Module, not a builtin_function_or_method",
    "Nothing": "no trainable parameters",
    "Aliased": "the parameters '1.weight' and '2.weight' of the workload's model share memory",
    "Sparse": "the layer '1' of the workload's model has sparse gradients",
    "ExtraState": "keeps '2._extra_state' in its state_dict(), which is no tensor",
    "Unsaved": "leaves its parameter '2.weight' out of its state_dict()",
    "TrackingInstances": "changes its buffer '0.running_mean' during training",
    "SpectralNorm": "changes its buffer '2.parametrizations.weight.0._u' during training",
}


def own_network(name: str) -> tuple[Workload, nn.Module]:
    """Make a network by its own code alone, as a run with the default seed begins with it."""
    from scalewise.seeds import Purpose, derive

    workload = find_workload(f"{MODELS}:{name}")
    torch.manual_seed(derive(0, Purpose.INITIAL_WEIGHTS))
    return workload, workload.model()


@torch.no_grad()
def measured(workload: Workload, network: nn.Module) -> dict[str, float]:
    """Measure a network without any code of the training."""
    inputs, targets = (torch.as_tensor(part) for part in pair(workload.data()["val"]))
    metrics = workload.metrics(network.eval()(inputs), targets)
    return {f"val/{name}": float(values.double().mean()) for name, values in metrics.items()}


def pair(split: Any) -> tuple[Tensor, Tensor]:
    return split if isinstance(split, tuple) else (split.inputs, split.targets)


def assert_measures_the_same(name: str, run: Run) -> nn.Module:
    workload, network = own_network(name)
    network.load_state_dict(run.weights)
    for metric, value in measured(workload, network).items():
        assert float(run.rows[-1][metric]) == pytest.approx(value, rel=1e-5), metric
    return network


@pytest.mark.parametrize("name", TRAINED)
def test_saved_weights_do_the_same_in_the_networks_own_code(name: str, tmp_path: Path) -> None:
    run = train(1, f"{MODELS}:{name}", tmp_path / "run", "--exact")
    trained = assert_measures_the_same(name, run).state_dict()
    initial = own_network(name)[1].state_dict()
    changed = {key for key, value in initial.items() if not torch.equal(value, trained[key])}
    frozen = {
        "FrozenWeights": {"1.weight", "1.bias"},
        "OwnBuffers": {"2.scale"},
        "FrozenNorm": {"2.weight", "2.bias", "2.running_mean", "2.running_var", "2.num_batches_tracked"},
    }
    assert initial.keys() - changed == frozen.get(name, set())


@pytest.mark.parametrize("name", ["Tied", "NormWithActivation", "FrozenNorm", "WeightNorm"])
def test_workers_and_a_resume_do_not_change_it(name: str, tmp_path: Path) -> None:
    """Also where several names have one parameter, or a parameter has several parts."""
    whole = train(1, f"{MODELS}:{name}", tmp_path / "whole", "--exact")
    stop = {"SCALEWISE_TEST_STOP_ONCE": str(tmp_path / "stopped")}
    stopped = group(2, "train", f"{MODELS}:{name}", "--out", tmp_path / "run", "--exact", env=stop)
    assert stopped.exit_code == 4, stopped.output
    assert 0 < Run(tmp_path / "run").checkpoints[-1] < 4
    resumed = train(3, f"{MODELS}:{name}", tmp_path / "run", "--exact")
    assert resumed.bits == whole.bits
    assert resumed.rows == whole.rows
    assert_measures_the_same(name, resumed)


def test_a_layer_with_a_forward_of_its_own_compiles(tmp_path: Path) -> None:
    plain = train(1, f"{MODELS}:NormWithActivation", tmp_path / "plain")
    compiled = train(1, f"{MODELS}:NormWithActivation", tmp_path / "run", "--set", "performance.compile=true")
    assert compiled.metadata["performance"]["compiled"]
    for name, weights in plain.weights.items():
        torch.testing.assert_close(compiled.weights[name], weights, rtol=1e-4, atol=1e-5)
    assert_measures_the_same("NormWithActivation", compiled)


def test_tied_weights_are_saved_under_both_names(tmp_path: Path) -> None:
    run = train(1, f"{MODELS}:Tied", tmp_path / "run")
    assert torch.equal(run.weights["encoder.weight"], run.weights["decoder.weight"])
    network = cast(Any, assert_measures_the_same("Tied", run))
    assert network.encoder.weight is network.decoder.weight
    assert run.metadata["weights"] == sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_trained_or_saved_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    ended = group(1, "train", f"{MODELS}:{name}", "--out", tmp_path / "run")
    assert ended.exit_code == 2, ended.output
    assert ended.output.startswith("scalewise: ") and ended.output.count("\n") == 1, ended.output
    assert REFUSED[name] in ended.output
    assert not (tmp_path / "run").exists()
