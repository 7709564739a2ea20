"""How the arithmetic is done: chosen in long runs, kept over sittings, never where bits count."""

from pathlib import Path

import pytest
import torch

from mischief import MISCHIEF, mischief
from processes import NETS, group, train

LONG = ("--set", "stop.steps=100000000", "--set", "stop.target=val/classification_error<0.5")
CHOSEN = ("memory_format", "compiled", "threads_per_worker")


def test_a_long_run_chooses_and_says_so(tmp_path: Path) -> None:
    run = train(2, f"{NETS}:Dropout", tmp_path, *LONG)
    choice = run.metadata["performance"]
    assert choice["probe_seconds"] > 0
    assert choice["memory_format"] in ("channels_last", "contiguous")
    assert "a probe of" in run.output
    assert run.metadata["steps"] < 100  # the probe's own steps are taken back
    assert run.metadata["status"] == "COMPLETE"


def test_a_short_run_does_not(tmp_path: Path) -> None:
    run = train(1, f"{NETS}:Dropout", tmp_path)
    assert run.metadata["performance"]["probe_seconds"] == 0
    assert "a probe of" not in run.output


def test_exact_runs_have_no_choice(tmp_path: Path) -> None:
    run = train(1, f"{NETS}:Dropout", tmp_path, *LONG, "--exact")
    assert [run.metadata["performance"][key] for key in CHOSEN] == ["channels_last", False, 1]
    assert run.metadata["performance"]["probe_seconds"] == 0


def test_a_probed_run_trains_as_if_there_had_been_no_probe(tmp_path: Path) -> None:
    fixed = ("--set", "cluster.threads_per_worker=1", "--set", "performance.compile=false")
    probed = train(1, f"{NETS}:BatchNorm", tmp_path / "probed", *LONG, *fixed)
    assert probed.metadata["performance"]["probe_seconds"] > 0
    chosen = probed.metadata["performance"]["memory_format"]
    chosen_by_hand = train(
        1,
        f"{NETS}:BatchNorm",
        tmp_path / "chosen_by_hand",
        *LONG,
        *fixed,
        "--set",
        f"performance.memory_format={chosen}",
    )
    assert chosen_by_hand.metadata["performance"]["probe_seconds"] == 0
    assert probed.bits == chosen_by_hand.bits


def test_the_choice_is_kept_when_a_run_goes_on(tmp_path: Path) -> None:
    contiguous = ("--set", "performance.memory_format=contiguous")
    settings = ("--set", "stop.steps=20", "--set", "checkpoint.every_steps=10")
    env = mischief("SIGTERM", tmp_path / "once", count=60)
    arguments = ("train", MISCHIEF, "--out", tmp_path / "run", *settings)
    assert group(1, *arguments, *contiguous, env=env).exit_code == 4
    ended = group(1, *arguments)
    assert ended.exit_code == 0, ended.output
    whole = train(1, MISCHIEF, tmp_path / "whole", *settings, *contiguous)
    assert (tmp_path / "run" / "model.safetensors").read_bytes() == whole.bits


def test_formats_and_compiling_change_no_more_than_rounding(tmp_path: Path) -> None:
    runs = [
        train(1, f"{NETS}:Dropout", tmp_path / str(number), *settings)
        for number, settings in enumerate(
            [(), ("--set", "performance.memory_format=contiguous"), ("--set", "performance.compile=true")]
        )
    ]
    for name, weights in runs[0].weights.items():
        for run in runs[1:]:
            torch.testing.assert_close(run.weights[name], weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("setting", ["performance.memory_format=contiguous", "performance.compile=true"])
def test_exact_refuses_other_arithmetic(setting: str, tmp_path: Path) -> None:
    ended = group(1, "train", f"{NETS}:Dropout", "--out", tmp_path, "--exact", "--set", setting)
    assert ended.exit_code == 2
    assert "contradicts recipe.exact (--exact)" in ended.output
