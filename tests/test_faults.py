"""Workers and launchers that are killed, fail or meet on one folder."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mischief import MISCHIEF, mischief
from processes import ROOT, Run, alive, children, finish, group, scalewise, start, train, wait_until

ENDLESS = ("--set", "stop.steps=null", "--set", "stop.target=val/classification_error<0", "--set", "stop.seconds=600")


def start_endless(out: Path, workers: int, *arguments: str) -> subprocess.Popen[str]:
    """Start a run that nothing ends, and wait until it trains."""
    process = start("train", MISCHIEF, "--workers", workers, "--out", out, *ENDLESS, *arguments)
    wait_until(lambda: len(Run(out).checkpoints) > 0 or process.poll() is not None, "the first checkpoint is there")
    return process


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_worker_is_replaced_and_the_model_is_the_same(rank: int, tmp_path: Path) -> None:
    reference = train(1, MISCHIEF, tmp_path / "reference", "--exact")
    out = tmp_path / "run"
    arguments = ("train", MISCHIEF, "--out", out, "--workers", 2, "--exact", "--set", "checkpoint.every_steps=4")
    ended = scalewise(*arguments, env=mischief("SIGKILL", tmp_path / "once", rank=rank, count=30))
    assert ended.exit_code == 0, ended.output
    assert "a worker was lost: restart 1 of 3" in ended.output
    assert "continues from the checkpoint at step" in ended.output
    assert Run(out).bits == reference.bits
    assert Run(out).rows == reference.rows


def test_workers_killed_at_random_moments_change_nothing(tmp_path: Path) -> None:
    longer = ("--exact", "--set", "stop.steps=150", "--set", "checkpoint.every_steps=5")
    reference = train(1, MISCHIEF, tmp_path / "reference", *longer)
    seed = random.randrange(10**6)
    print(f"random moments from seed {seed}")
    moments = random.Random(seed)
    out = tmp_path / "run"
    process = start(
        "train",
        MISCHIEF,
        "--workers",
        3,
        "--out",
        out,
        *longer,
        "--set",
        "cluster.max_restarts=9",
        stdin=subprocess.DEVNULL,
    )
    for _ in range(3):
        wait_until(lambda: len(children(process.pid)) == 3 or process.poll() is not None, "three workers run")
        time.sleep(moments.uniform(0, 4))  # the random moment itself, not a wait for something
        workers = children(process.pid)
        if process.poll() is None and workers:
            victim = moments.choice(workers)
            print(f"killing process {victim} of {workers} after checkpoints {Run(out).checkpoints}")
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda victim=victim: not alive(victim), "it is dead")  # type: ignore[misc]
    ended = finish(process)
    assert ended.exit_code == 0, ended.output
    assert Run(out).bits == reference.bits
    assert Run(out).rows == reference.rows


def test_restarts_run_out(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ("train", MISCHIEF, "--out", out, "--workers", 2, "--set", "cluster.max_restarts=0")
    ended = scalewise(*arguments, env=mischief("SIGKILL", tmp_path / "once", rank=1, count=30))
    assert ended.exit_code == 4
    assert "the same command continues" in ended.output


def test_when_the_launcher_is_killed_its_workers_end(tmp_path: Path) -> None:
    launcher = start_endless(tmp_path / "run", 2, "--set", "checkpoint.every_steps=5")
    workers = children(launcher.pid)
    assert len(workers) == 2
    launcher.kill()
    wait_until(lambda: not any(map(alive, workers)), "no worker is left")
    finish(launcher)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGUSR1"])
def test_a_signal_to_the_launcher_stops_all_workers_with_a_checkpoint(name: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    launcher = start_endless(out, 2, "--set", "checkpoint.every_steps=5")
    workers = children(launcher.pid)
    launcher.send_signal(signal.Signals[name])
    ended = finish(launcher)
    assert ended.exit_code == 4, ended.output
    assert "Traceback" not in ended.output
    assert not any(map(alive, workers))
    assert Run(out).metadata["stopped_by"] == "signal"
    assert Run(out).checkpoints[-1] == Run(out).metadata["steps"]


def test_a_failing_worker_tells_why_and_the_group_ends(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ("train", MISCHIEF, "--out", out, "--workers", 2)
    ended = scalewise(*arguments, env=mischief("raise", tmp_path / "once", rank=1, count=8))
    assert ended.exit_code == 1
    assert "a bug in the user's loss" in ended.output
    assert ended.output.index("Traceback") < ended.output.index("lost another one")
    assert "restart" not in ended.output


def test_two_runs_never_write_one_folder(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = start_endless(out, 1, "--set", "checkpoint.every_steps=5")
    second = group(1, "train", MISCHIEF, "--out", out, *ENDLESS)
    assert second.exit_code == 2
    assert f"is being written by process {first.pid} on " in second.output
    moved = group(1, "train", MISCHIEF, "--out", out, *ENDLESS, "--fresh")
    assert moved.exit_code == 2
    first.kill()  # a dead holder does not block
    finish(first)
    assert group(1, "train", MISCHIEF, "--out", out, *ENDLESS, "--fresh", "--set", "stop.seconds=0.1").exit_code == 0


def test_the_same_command_joins_the_group_that_torchrun_made(tmp_path: Path) -> None:
    reference = train(1, MISCHIEF, tmp_path / "reference", "--exact")
    out = tmp_path / "run"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1"]
    command = ["--nproc-per-node=2", "-m", "scalewise", "train", MISCHIEF, "--exact", "--out", str(out)]
    ended = subprocess.run([*torchrun, *command], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert Run(out).metadata["workers"] == 2
    assert Run(out).bits == reference.bits


def test_a_diverged_run_is_a_result(tmp_path: Path) -> None:
    run = train(2, MISCHIEF, tmp_path / "run", "--set", "recipe.learning_rate=1e30", expect=3)
    assert run.metadata["status"] == "INFEASIBLE"
    assert run.metadata["stopped_by"] == "diverged"
    assert 1 <= run.metadata["steps"] <= 30
    assert not (run.path / "model.safetensors").exists()
    again = train(1, MISCHIEF, tmp_path / "run", "--set", "recipe.learning_rate=1e30", expect=3)
    assert again.metadata == run.metadata


def test_a_diverged_group_is_not_restarted(tmp_path: Path) -> None:
    arguments = ("train", MISCHIEF, "--out", tmp_path / "run", "--workers", 2, "--set", "recipe.learning_rate=1e30")
    ended = scalewise(*arguments)
    assert ended.exit_code == 3, ended.output
    assert "restart" not in ended.output
