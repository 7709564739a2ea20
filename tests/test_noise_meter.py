"""`NoiseMeter` in loops that are not ours: the same figure as `scalewise noise` on the same training."""

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import scalewise as sw
from processes import ROOT
from python_workloads import Circle
from scalewise.data.order import ExampleOrder
from scalewise.loop.noise import NoiseScale
from scalewise.seeds import Purpose, derive

MICROBATCH, MICROBATCHES, STEPS, RATE = 16, 4, 160, 0.1
EXAMPLE = ROOT / "examples" / "ddp_noise.py"


def plain_loop(take: Callable[[sw.NoiseMeter, nn.Module, Tensor], None], divide_loss: bool) -> sw.NoiseMeter:
    """Train as `sw.noise` does, in a loop of one's own; the meter holds its last quarter."""
    workload = Circle()
    inputs, targets = workload.data()["train"]
    order = ExampleOrder(0, len(inputs))
    torch.manual_seed(derive(0, Purpose.INITIAL_WEIGHTS))
    model = workload.model()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE if divide_loss else RATE / MICROBATCHES)
    meter = sw.NoiseMeter(microbatch=MICROBATCH)
    for step in range(STEPS):
        if step % (STEPS // 4) == 0:
            meter.clear()
        optimizer.zero_grad()
        for index in range(MICROBATCHES):
            chosen = order.indices((step * MICROBATCHES + index) * MICROBATCH, MICROBATCH)
            loss = F.cross_entropy(model(inputs[chosen]), targets[chosen])
            take(meter, model, loss / MICROBATCHES if divide_loss else loss)
        meter.end_step()
        optimizer.step()
    return meter


def accumulated(meter: sw.NoiseMeter, model: nn.Module, loss: Tensor) -> None:
    loss.backward()
    meter.add_microbatch(model.parameters())


def one_by_one(meter: sw.NoiseMeter, model: nn.Module, loss: Tensor) -> None:
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
    meter.add(gradients)


@pytest.mark.parametrize("take", [accumulated, one_by_one])
@pytest.mark.parametrize("divide_loss", [True, False])
def test_it_is_that_of_the_command(take: Callable[..., None], divide_loss: bool) -> None:
    recipe = {"optimizer": "sgd", "learning_rate": RATE, "microbatch": MICROBATCH, "global_batch": 64}
    ours = sw.noise(Circle(), steps=STEPS, recipe=recipe).noise_scale
    found = plain_loop(take, divide_loss).noise_scale
    assert found.steps == ours.steps == STEPS // 4
    assert ours.value is not None and ours.high is not None
    for name in ("value", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(ours, name), rel=1e-4), name


def test_in_a_plain_ddp_loop_it_is_that_of_accumulated_microbatches() -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1"]
    ended = subprocess.run(
        [*command, "--nproc-per-node", "2", str(EXAMPLE)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    words = next(line for line in ended.stdout.splitlines() if line.startswith("noise scale")).replace(",", "").split()
    alone = _accumulated_example()
    assert [float(words[place]) for place in (2, 4, 6)] == pytest.approx([alone.value, alone.low, alone.high], rel=1e-4)
    assert int(words[8]) == alone.steps


def _accumulated_example() -> NoiseScale:
    """Train the example in one process, with its two processes as two microbatches."""
    example = runpy.run_path(str(EXAMPLE))
    model = example["network"]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, targets = example["points"]()
    meter = sw.NoiseMeter(microbatch=example["MICROBATCH"])
    for step in range(example["STEPS"]):
        if step == example["STEPS"] // 2:
            meter.clear()
        optimizer.zero_grad()
        for index in range(2):
            chosen = example["microbatch"](step, index, 2)
            (F.cross_entropy(model(inputs[chosen]), targets[chosen]) / 2).backward()
            meter.add_microbatch(model.parameters())
        meter.end_step()
        optimizer.step()
    return meter.noise_scale


def test_loss_scales_are_taken_out_and_what_overflows_is_left_out() -> None:
    plain, scaled = sw.NoiseMeter(microbatch=2), sw.NoiseMeter(microbatch=2)
    draws = torch.randn(20, 4, 6, generator=torch.Generator().manual_seed(0)) + 1
    for step, gradients in enumerate(draws):
        scale = 2.0**step
        for gradient in gradients:
            plain.add(gradient)
            scaled.add(scale * gradient)
        plain.end_step()
        scaled.end_step(loss_scale=scale)
    assert scaled.noise_scale.value == pytest.approx(plain.noise_scale.value, rel=1e-6)
    for gradient in (torch.tensor([float("inf")]), torch.tensor([1.0])):
        scaled.add(gradient)
    scaled.end_step()
    assert scaled.noise_scale.steps == 20


def test_parameters_without_a_gradient_take_no_part() -> None:
    used, unused = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(2))
    meter = sw.NoiseMeter(microbatch=1)
    for _ in range(3):
        used.grad = unused.grad = None
        for number in range(3):
            loss = (used * torch.arange(3.0) * (number + 1)).sum() + (unused.sum() if number == 2 else 0.0)
            loss.backward()
            meter.add_microbatch([used, unused])
        meter.end_step()
    assert meter.noise_scale.steps == 3


@pytest.mark.parametrize(
    ("microbatches", "message"),
    [([[1.0]], "a step needs at least two of them"), ([[1.0], [1.0, 2.0]], "must have the same parts")],
)
def test_mistakes(microbatches: list[list[float]], message: str, tmp_path: Path) -> None:
    meter = sw.NoiseMeter(microbatch=1)
    with pytest.raises(sw.UserError, match=message):
        for parts in microbatches:
            meter.add(torch.tensor([part]) for part in parts)
        meter.end_step()
