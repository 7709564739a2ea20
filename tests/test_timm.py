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

__all__ = ["timm_folder"]

pytestmark = pytest.mark.filterwarnings("default:timm cannot be installed")
NETWORKS = {"TestEfficientNet": {}, "TestResNet": {}, "TestVit": {"img_size": 32}}
EXAMPLE = ROOT / "examples" / "timm_networks.py"


def train(workers: int, network: str, packages: Path, out: Path) -> Run:
    settings = ("--set", "stop.steps=6", "--set", "evaluate.every_steps=6", "--exact")
    workload = f"{EXAMPLE}:{network}"
    ended = group(workers, "train", workload, "--out", out, *settings, env={"PYTHONPATH": str(packages)})
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


def assert_trains_as_it_is(network: str, packages: Path, folder: Path) -> None:
    alone, together = (train(workers, network, packages, folder / str(workers)) for workers in (1, 2))
    assert alone.bits == together.bits and alone.rows == together.rows
    file, error, cross_entropy = in_own_process(measure_in_timm, packages, network, alone.path / "model.safetensors")
    assert Path(file).is_relative_to(packages)
    last = alone.rows[-1]
    assert float(last["val/classification_error"]) == pytest.approx(error, abs=1e-9)
    assert float(last["val/cross_entropy_error"]) == pytest.approx(cross_entropy, rel=1e-5)
    assert last["val/cross_entropy_error"] != alone.rows[0]["val/cross_entropy_error"]


@pytest.mark.parametrize("network", NETWORKS)
def test_a_network_of_timm_trains_as_it_is(network: str, timm_folder: Path, tmp_path: Path) -> None:
    assert_trains_as_it_is(network, timm_folder, tmp_path)


def test_what_stands_in_for_timm_trains_too(tmp_path: Path) -> None:
    assert_trains_as_it_is("TestEfficientNet", STAND_IN, tmp_path)
