"""Networks of timm train as they are, and what was trained does the same in timm itself."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from processes import ROOT, Run, group, in_own_process
from timm_environment import STAND_IN, timm_folder
from whole_examples import assert_every_command_takes, assert_same_bits_on_more_workers_and_after_a_stop

__all__ = ["timm_folder"]

pytestmark = pytest.mark.filterwarnings("default:timm cannot be installed")
NETWORKS = {"TestEfficientNet": {}, "TestResNet": {}, "TestVit": {"img_size": 32}}
EXAMPLE = ROOT / "examples" / "timm_networks.py"
STOPPED = ROOT / "tests" / "workloads" / "stopped_timm.py"
UNEVEN = ("--set", "recipe.global_batch=22", "--set", "recipe.microbatch=5")
QUICK = ("--exact", *UNEVEN, "--set", "stop.target=null", "--set", "stop.steps=6", "--set", "evaluate.every_steps=6")


def train(network: str, packages: Path, out: Path) -> Run:
    ended = group(1, "train", f"{STOPPED}:{network}", "--out", out, *QUICK, env={"PYTHONPATH": str(packages)})
    assert ended.exit_code == 0, ended.output
    return Run(out)


def measure_in_timm(packages: Path, network: str, weights: Path) -> tuple[str, float, float]:
    """Return where timm came from, and the error and the cross entropy; nothing here is scalewise's but the images."""
    sys.path.insert(0, str(packages))
    import timm

    specification = importlib.util.spec_from_file_location("example", EXAMPLE)
    assert specification is not None and specification.loader is not None
    example = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(example)
    images, labels = getattr(example, network)().data()["val"]
    name = {"TestEfficientNet": "test_efficientnet", "TestResNet": "test_resnet", "TestVit": "test_vit"}[network]
    model = timm.create_model(name, num_classes=10, **NETWORKS[network])
    model.load_state_dict(load_file(weights))
    with torch.no_grad():
        scores = model.eval()(images)
    wrong = scores.argmax(dim=1) != labels
    return timm.__file__, float(wrong.double().mean()), float(F.cross_entropy(scores, labels))


def assert_does_the_same_in_timm(run: Run, network: str, packages: Path) -> None:
    file, error, cross_entropy = in_own_process(measure_in_timm, packages, network, run.path / "model.safetensors")
    assert Path(file).is_relative_to(packages)
    last = run.rows[-1]
    assert float(last["val/classification_error"]) == pytest.approx(error, abs=1e-9)
    assert float(last["val/cross_entropy_error"]) == pytest.approx(cross_entropy, rel=1e-5)
    assert last["val/cross_entropy_error"] != run.rows[0]["val/cross_entropy_error"]


@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_of_timm_trains_as_it_is(network: str, timm_folder: Path, tmp_path: Path) -> None:
    run = train(network, timm_folder, tmp_path / "run")
    assert_does_the_same_in_timm(run, network, timm_folder)
    env = {"PYTHONPATH": str(timm_folder)}
    assert_same_bits_on_more_workers_and_after_a_stop(run, f"{STOPPED}:{network}", QUICK, tmp_path, env)


@pytest.mark.parametrize("network", NETWORKS)
def test_every_command_takes_it(network: str, timm_folder: Path, tmp_path: Path) -> None:
    assert_every_command_takes(f"{EXAMPLE}:{network}", tmp_path, {"PYTHONPATH": str(timm_folder)})


def test_what_stands_in_for_timm_trains_too(tmp_path: Path) -> None:
    assert_does_the_same_in_timm(train("TestEfficientNet", STAND_IN, tmp_path), "TestEfficientNet", STAND_IN)
