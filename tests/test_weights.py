"""Losses that weigh examples: a mean over tokens, places or frames, whatever the microbatches and workers."""

from pathlib import Path

import pytest
import torch
from torch import nn

from loops import make_loop
from processes import NETS, ROOT, train
from scalewise.loop.loop import Loop
from scalewise.loop.step import take_step
from scalewise.loop.votes import Votes
from scalewise.workloads.find import find_workload

SUMS = f"{ROOT}/examples/ragged.py:Sums"
MOMENTUM = ("recipe.optimizer=momentum", "recipe.learning_rate=0.01", "stop.target=null", "stop.steps=100")


def plain_losses(loop: Loop, steps: int) -> tuple[list[float], nn.Module]:
    """Train by a plain loop: whole batches, and the mean over everything in them that counts."""
    workload = find_workload(SUMS)
    torch.manual_seed(0)
    model = workload.model()
    model.load_state_dict({name: tensor.clone() for name, tensor in loop.parts.state.model.state_dict().items()})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train, source, losses = workload.data()["train"], loop.parts.feed.source, []
    for step in range(steps):
        indices = [int(index) for part in range(source.batch.microbatches) for index in source.indices(step, part)]
        inputs, targets = workload.collate([train[index] for index in indices])
        sums, weights = workload.loss(model(inputs), targets)
        loss = sums.sum() / weights.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model


@pytest.mark.parametrize("microbatch", [30, 8, 1])
def test_equal_to_a_plain_loop_over_whole_batches(microbatch: int) -> None:
    loop = make_loop(*MOMENTUM, "recipe.global_batch=30", f"recipe.microbatch={microbatch}", workload=SUMS)
    expected, model = plain_losses(loop, steps=100)
    losses = [take_step(loop.parts, Votes).loss for _ in range(100)]
    assert losses == pytest.approx(expected, rel=1e-6, abs=1e-6)
    plain, ours = (
        torch.cat([tensor.flatten() for tensor in network.state_dict().values()])
        for network in (model, loop.parts.state.model)
    )
    assert float((ours - plain).norm() / plain.norm()) < 1e-6


def known_noise_scale() -> float:
    """Of a mean over examples that are weighed: tr Cov(w x - w G) / (E w)^2 / |G|^2, with G = E w x / E w."""
    inputs, weights = find_workload(f"{NETS}:WeighedNoise").data()["train"]
    inputs, weights = inputs.double(), weights.double()
    mean = (weights[:, None] * inputs).mean(dim=0) / weights.mean()
    errors = weights[:, None] * (inputs - mean)
    return float(errors.var(dim=0).sum() / weights.mean() ** 2 / mean.square().sum())


@pytest.mark.parametrize("workers", [1, 3])
def test_the_noise_scale_is_right_where_it_is_known(workers: int, tmp_path: Path) -> None:
    run = train(workers, f"{NETS}:WeighedNoise", tmp_path)
    last = {name: float(value) for name, value in run.rows[-1].items()}
    truth = known_noise_scale()
    assert last["noise_scale"] == pytest.approx(truth, rel=0.05)
    assert last["noise_scale_low"] < truth < last["noise_scale_high"]


def test_clipping_and_fp16_see_the_mean() -> None:
    """A clip norm that the mean gradient is below, but the sum above, changes nothing."""
    settings = (*MOMENTUM, "recipe.global_batch=32", "recipe.microbatch=8")
    plain, clipped = (make_loop(*settings, *more, workload=SUMS) for more in ((), ("recipe.clip_norm=1e9",)))
    for loop in (plain, clipped):
        for _ in range(5):
            take_step(loop.parts, Votes)
    assert torch.equal(plain.parts.state.weights.vector, clipped.parts.state.weights.vector)
    tight = make_loop(*settings, "recipe.clip_norm=0.01", "recipe.momentum=0", workload=SUMS)
    before = tight.parts.state.weights.vector.clone()
    take_step(tight.parts, Votes)
    moved = (tight.parts.state.weights.vector - before).norm()
    assert float(moved) == pytest.approx(0.01 * 0.01, rel=1e-3)
