"""The gradient noise scale: right where it is known, the same on any number of workers, kept over stops."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from mischief import MISCHIEF, mischief
from processes import NETS, Run, group, train
from scalewise.loop.noise import NoiseMeter, NoiseSample, NoiseSums
from scalewise.recipe.batch import Batch
from scalewise.workloads.find import find_workload

EVERY = ("--set", "noise_scale.every_steps=1")


def known_examples() -> Tensor:
    train = find_workload(f"{NETS}:KnownNoise").data()["train"]
    assert isinstance(train, tuple)
    examples: Tensor = train[0].double()
    return examples


def known_noise_scale() -> float:
    """tr(S) / |G|^2 of the examples themselves."""
    examples = known_examples()
    return float(examples.var(dim=0).sum() / examples.mean(dim=0).square().sum())


@pytest.mark.parametrize("workers", [1, 3])
def test_it_is_right_where_it_is_known(workers: int, tmp_path: Path) -> None:
    run = train(workers, f"{NETS}:KnownNoise", tmp_path)
    last = {name: float(value) for name, value in run.rows[-1].items()}
    truth = known_noise_scale()
    assert last["noise_scale"] == pytest.approx(truth, rel=0.05)
    assert last["noise_scale_low"] < truth < last["noise_scale_high"]
    assert last["noise_scale_steps"] == 1500
    assert math.isnan(float(run.rows[0]["noise_scale"]))  # before the first step


def test_other_ways_to_divide_are_off() -> None:
    """The mean of ratios, and noise over the whole batch's square, on the same samples."""
    examples = known_examples().numpy()
    truth, small, large = known_noise_scale(), 4, 32
    draws = np.random.default_rng(0)
    samples, whole_squares = [], []
    for _ in range(3000):
        batch = examples[draws.integers(len(examples), size=large)]
        small_square = np.square(batch.reshape(-1, small, 20).mean(1)).sum(1).mean()
        large_square = np.square(batch.mean(0)).sum()
        noise = (small_square - large_square) / (1 / small - 1 / large)
        samples.append(NoiseSample(noise, (large * large_square - small * small_square) / (large - small)))
        whole_squares.append(large_square)
    sums = NoiseSums()
    for sample in samples:
        sums.add(sample)
    found = sums.estimate()
    assert found.value == pytest.approx(truth, rel=0.05)
    mean_of_ratios = np.mean([sample.noise / sample.signal for sample in samples])
    over_whole_square = np.mean([sample.noise for sample in samples]) / np.mean(whole_squares)
    assert abs(mean_of_ratios / truth - 1) > 0.1
    assert over_whole_square / truth < 0.9


def test_the_interval_covers_the_truth() -> None:
    draws = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        sums = NoiseSums()
        for noise, signal in zip(draws.normal(12.5, 10, 40), draws.normal(1, 1, 40), strict=True):
            sums.add(NoiseSample(noise, signal))
        found = sums.estimate()
        covered += (found.low or 0) <= 12.5 <= (found.high or math.inf)
    assert covered >= 180


def test_where_the_signal_may_be_nothing_there_is_no_upper_end() -> None:
    sums = NoiseSums()
    for signal in (-1.0, 1.1, -0.9, 1.2):
        sums.add(NoiseSample(10.0, signal))
    assert sums.estimate().high is None
    assert NoiseSums().estimate().value is None


def test_a_smaller_last_microbatch_takes_no_part_and_loss_scales_are_taken_out() -> None:
    meter = NoiseMeter(every_steps=2, batch=Batch(examples=20, microbatch=8), device=torch.device("cpu"))
    gradients = [torch.tensor([3.0]), torch.tensor([4.0])]
    assert [float(meter.square(2, microbatch, gradients)) for microbatch in range(3)] == [25, 25, 0]
    assert float(meter.square(3, 0, gradients)) == 0  # not measured
    assert meter.sample(3, torch.tensor(50.0), torch.ones(4), 1.0) is None
    plain = meter.sample(2, torch.tensor(50.0), torch.ones(4), 1.0)
    scaled = meter.sample(2, torch.tensor(50.0) * 4, 2 * torch.ones(4), 2.0)
    assert plain == scaled
    assert meter.sample(2, torch.tensor(math.inf), torch.ones(4), 1.0) is None


def test_it_sees_unclipped_gradients_and_changes_nothing(tmp_path: Path) -> None:
    plain = train(1, f"{NETS}:BatchNorm", tmp_path / "plain", "--exact")
    measured = train(2, f"{NETS}:BatchNorm", tmp_path / "measured", "--exact", *EVERY)
    assert measured.bits == plain.bits
    clipped = train(1, f"{NETS}:Dropout", tmp_path / "clipped", *EVERY, "--set", "recipe.clip_norm=0.0001")
    whole = train(1, f"{NETS}:Dropout", tmp_path / "whole", *EVERY, "--set", "recipe.learning_rate=0.000001")
    first, same = (float(run.rows[1]["noise_scale"]) for run in (clipped, whole))
    assert first == pytest.approx(same, rel=0.02)


def test_a_stopped_run_loses_no_sample(tmp_path: Path) -> None:
    env = mischief("SIGTERM", tmp_path / "once", count=75)
    arguments = ("train", MISCHIEF, "--out", tmp_path / "run", *EVERY)
    assert group(1, *arguments, env=env).exit_code == 4
    assert group(1, *arguments).exit_code == 0
    whole = train(1, MISCHIEF, tmp_path / "whole", *EVERY)
    assert Run(tmp_path / "run").rows == whole.rows


def test_the_command_predicts_steps_and_says_that_it_does(tmp_path: Path) -> None:
    ended = group(1, "noise", f"{NETS}:KnownNoise", "--steps", 400, "--json")
    assert ended.exit_code == 0, ended.output
    content = json.loads(ended.output[ended.output.index("{") :])
    assert content["noise_scale"]["steps"] == 100
    assert [window["until_step"] for window in content["windows"]] == [100, 200, 300, 400]
    at_64 = next(row for row in content["predicted"] if row["batch_size"] == 64)
    assert at_64["steps_over_s_min"] == pytest.approx(1 + content["noise_scale"]["value"] / 64)
    shown = group(1, "noise", f"{NETS}:KnownNoise", "--steps", 400)
    assert "predicted, not measured" in shown.output
    assert "a study measures it" in shown.output


@pytest.mark.parametrize(
    "setting, message",
    [
        ("recipe.microbatch=80", "a recipe.microbatch below the global batch of 80"),
        ("recipe.combine=adasum", "not adasum"),
    ],
)
def test_mistakes(setting: str, message: str, tmp_path: Path) -> None:
    ended = group(1, "train", f"{NETS}:Dropout", "--out", tmp_path, *EVERY, "--set", setting)
    assert (ended.exit_code, message in ended.output) == (2, True), ended.output


def test_a_training_that_diverges_says_nothing_of_its_noise() -> None:
    ended = group(1, "noise", "digits/fc_64_64", "--steps", 8, "--set", "recipe.learning_rate=1e30", "--json")
    assert ended.exit_code == 3, ended.output
    assert ended.output.splitlines()[-1].startswith("scalewise: the training of digits/fc_64_64 diverged")
