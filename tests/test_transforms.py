"""What is done to training examples: a pure function of the example and of (seed, epoch, position)."""

from pathlib import Path

import pytest
import torch

from loops import make_loop
from processes import ROOT, train
from scalewise.data.draws import integers, uniform
from scalewise.data.order import ExampleOrder

FILE = ROOT / "tests" / "workloads" / "transformed.py"
QUICK = ("--exact", "--set", "recipe.global_batch=22", "--set", "recipe.microbatch=5", "--set", "stop.steps=10")


def test_seeds_depend_on_seed_epoch_and_position_alone() -> None:
    order = ExampleOrder(seed=3, examples=10)
    everything = order.seeds(0, 40)
    assert everything.unique().numel() == 40 and bool((everything >= 0).all())
    assert torch.equal(order.seeds(7, 9), everything[7:16])
    assert not torch.equal(ExampleOrder(seed=4, examples=10).seeds(0, 40), everything)


def test_draws_are_even_and_apart() -> None:
    seeds = ExampleOrder(seed=0, examples=100_000).seeds(0, 100_000)
    first, second = uniform(seeds, 0), uniform(seeds, 1)
    for draws in (first, second):
        assert float(draws.min()) >= 0 and float(draws.max()) < 1
        counts = torch.histc(draws, bins=10, min=0, max=1)
        assert float((counts / 10_000 - 1).abs().max()) < 0.04  # four standard deviations
    assert abs(float(torch.corrcoef(torch.stack([first, second]))[0, 1])) < 0.015
    assert integers(seeds, 2, 7).bincount().min() > 13_800


@pytest.mark.parametrize("name", ["InMicrobatches", "InReaders", "OnDisk"])
def test_the_same_bits_on_any_number_of_workers(name: str, tmp_path: Path) -> None:
    runs = [train(workers, f"{FILE}:{name}", tmp_path / str(workers), *QUICK) for workers in (1, 3)]
    assert runs[0].bits == runs[1].bits and runs[0].rows == runs[1].rows


def test_microbatches_and_readers_give_the_same_model(tmp_path: Path) -> None:
    runs = [
        train(1, f"{FILE}:{name}", tmp_path / f"{name}{readers}", *QUICK, "--set", f"cluster.readers={readers}")
        for name, readers in (("InMicrobatches", 0), ("InReaders", 0), ("InReaders", 2), ("OnDisk", 2))
    ]
    assert len({run.bits for run in runs}) == 1


def test_an_example_looks_different_in_every_epoch_and_never_in_evaluation() -> None:
    settings = ("recipe.global_batch=20", "recipe.microbatch=20", "stop.steps=4", "stop.target=null")
    loop = make_loop(*settings, workload=f"{FILE}:InMicrobatches")
    source = loop.parts.feed.source
    shifts = []
    for step in range(2):  # 20 examples are an epoch
        seen, plain = loop.parts.feed.microbatch(step, 0), source.microbatch(step, 0)
        shift = (seen.inputs - plain.inputs)[:, 0][source.indices(step, 0).argsort()]
        assert shift.unique().numel() == 20
        shifts.append(shift)
    assert not torch.isclose(*shifts).any()
    measured = loop.evaluator.splits["train"].part(0, 20)
    assert torch.equal(measured.inputs.sort(dim=0).values, source.examples.part(0, 20).inputs.sort(dim=0).values)
