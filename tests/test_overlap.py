"""Gradients that leave while others are computed: the same sums, sent earlier."""

import functools
from pathlib import Path

import pytest
import torch
from torch import nn

from limits import slow_network
from processes import NETS, Run, finish, group, start
from scalewise.cluster.sums import MessageSum
from scalewise.loop.overlap import OverlappedTotal
from scalewise.optim.flat import flatten, layout_with

APART = {"LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"}
"""Workers that each believe to be alone on their machine, and so send messages."""
CPU = torch.device("cpu")
BUCKETS = ("--set", "performance.bucket_megabytes=0.001")


def train_apart(workers: int, out: Path, *arguments: str) -> Run:
    ended = group(workers, "train", f"{NETS}:BatchNorm", "--out", out, *arguments, env=APART)
    assert ended.exit_code == 0, ended.output
    return Run(out, ended.output)


@pytest.mark.parametrize("workers", [2, 3])
def test_buckets_change_no_more_than_rounding(workers: int, tmp_path: Path) -> None:
    whole = train_apart(1, tmp_path / "whole")
    buckets = train_apart(workers, tmp_path / "buckets", *BUCKETS)
    assert buckets.metadata["performance"]["bucket_megabytes"] == 0.001
    for name, weights in whole.weights.items():
        torch.testing.assert_close(buckets.weights[name], weights, rtol=1e-4, atol=1e-6)


def test_the_last_microbatch_sends_each_bucket_as_soon_as_it_is_complete() -> None:
    log: list[str] = []
    model = nn.Sequential(nn.Linear(30, 20), nn.Linear(20, 10), nn.Linear(10, 5))
    weights = flatten(model)
    for layer, parameter in enumerate(weights.parameters[:3]):
        parameter.register_hook(functools.partial(lambda layer, _: log.append(f"gradient of layer {layer}"), layer))
    layout = layout_with(weights, (1,))
    parts = {0: "layer 0", layout.offsets[1]: "layer 1", layout.offsets[2]: "layer 2", layout.offsets[3]: "the rest"}

    class Logged(MessageSum):
        def start(self, start: int, end: int) -> None:
            log.append(f"{parts[start]} leaves")

        def add_up(self) -> None:
            pass

    total = OverlappedTotal(layout, Logged(layout.offsets[-1], CPU), weights, range(4, 6), bucket_bytes=1)
    for step in range(2):
        expected = torch.zeros(layout.offsets[-1])
        for microbatch in (4, 5):
            log.clear()
            total.expect(microbatch)
            loss = model(torch.full((2, 30), 1.0 + step + microbatch)).sum()
            contribution = [*torch.autograd.grad(loss, weights.parameters), torch.ones(1)]
            torch._foreach_add_(layout.views(expected), contribution)
            total.add(microbatch, contribution)
            gradients_and_messages = [
                line for layer in (2, 1, 0) for line in (f"gradient of layer {layer}", f"layer {layer} leaves")
            ]
            gradients = gradients_and_messages[::2]
            assert log == ([*gradients_and_messages, "the rest leaves"] if microbatch == 5 else gradients)
        total.finish()
        assert torch.equal(total.vector, expected)


def test_a_part_of_the_network_that_is_not_used_leaves_with_the_rest(tmp_path: Path) -> None:
    ended = group(2, "train", f"{NETS}:PartlyUnused", "--out", tmp_path, *BUCKETS, env=APART)
    assert ended.exit_code == 0, ended.output


def test_a_long_run_over_a_slow_network_chooses_buckets(tmp_path: Path) -> None:
    """The time of a message can hide behind backward: with a network this slow the probe sees it."""
    place = {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "10.77.0.1"}
    env = {**place, "MASTER_PORT": "29500", "GLOO_SOCKET_IFNAME": "cable"}
    settings = ("--set", "stop.steps=1000000", "--set", "stop.target=val/classification_error<1")
    fixed = ("--set", "performance.compile=false", "--set", "recipe.microbatch=40")
    arguments = ("train", f"{NETS}:SlowLayers", "--out", tmp_path, *settings, *fixed)
    with slow_network("50mbit") as ends:
        chief, other = (start(*arguments, env={**env, "RANK": str(rank)}, within=end) for rank, end in enumerate(ends))
        ended = finish(chief)
        finish(other)
    assert ended.exit_code == 0, ended.output
    assert Run(tmp_path).metadata["performance"]["bucket_megabytes"] > 0
    assert "buckets of" in ended.output


@pytest.mark.parametrize("setting", ["recipe.combine=adasum", "cluster.wire=bf16", "recipe.exact=true"])
def test_buckets_of_what_cannot_be_cut_are_refused(setting: str, tmp_path: Path) -> None:
    ended = group(1, "train", f"{NETS}:BatchNorm", "--out", tmp_path, *BUCKETS, "--set", setting)
    assert ended.exit_code == 2
    assert "performance.bucket_megabytes" in ended.output
