"""The networks of timm, each of which can be told to stop itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import nets
import timm_networks


class TestEfficientNet(nets.Mischievous, timm_networks.TestEfficientNet): ...


class TestResNet(nets.Mischievous, timm_networks.TestResNet): ...


class TestVit(nets.Mischievous, timm_networks.TestVit): ...
