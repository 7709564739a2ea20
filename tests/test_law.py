"""The law: workers change the time, never the model."""

from pathlib import Path

import pytest
import torch

from processes import NETS, ROOT, Run, group, train
from scalewise.cluster import sums
from scalewise.cluster.world import World

UNEVEN = ("--set", "recipe.global_batch=80", "--set", "recipe.microbatch=16")  # 5 microbatches
QUICK = ("--set", "stop.target=null", "--set", "stop.steps=30", "--set", "evaluate.every_steps=10")
SPIRALS = ROOT / "examples" / "spirals.py"


def relative_distance(one: Run, other: Run) -> float:
    """Return the distance of two models relative to their size."""
    mine, theirs = (torch.cat([tensor.flatten() for tensor in run.weights.values()]) for run in (one, other))
    return float((mine - theirs).norm() / mine.norm())


@pytest.mark.parametrize(
    "workload",
    ["digits/fc_64_64", f"{NETS}:Dropout", f"{NETS}:BatchNorm", f"{SPIRALS}:Spirals"],
    ids=["dense", "dropout", "batch norm", "the example"],
)
def test_exact_runs_are_bit_identical_on_1_2_3_and_4_workers(workload: str, tmp_path: Path) -> None:
    runs = [train(n, workload, tmp_path / str(n), "--exact", *UNEVEN, *QUICK) for n in (1, 2, 3, 4)]
    for run in runs[1:]:
        assert run.bits == runs[0].bits
        assert run.rows == runs[0].rows


def test_fast_runs_agree_to_rounding_after_200_steps(tmp_path: Path) -> None:
    arguments = (*UNEVEN, "--set", "stop.target=null", "--set", "stop.steps=200")
    runs = [train(n, "digits/fc_64_64", tmp_path / str(n), *arguments) for n in (1, 2, 3, 4)]
    for run in runs[1:]:
        assert relative_distance(runs[0], run) < 1e-5


@pytest.mark.parametrize("network", ["Dropout", "BatchNorm"])
def test_fast_runs_with_dropout_and_batch_norm_agree_to_rounding(network: str, tmp_path: Path) -> None:
    runs = [train(n, f"{NETS}:{network}", tmp_path / str(n)) for n in (1, 3)]
    assert relative_distance(*runs) < 1e-5


def test_exact_and_fast_runs_agree_to_rounding(tmp_path: Path) -> None:
    fast = train(2, "digits/fc_64_64", tmp_path / "fast", *UNEVEN, *QUICK)
    exact = train(2, "digits/fc_64_64", tmp_path / "exact", "--exact", *UNEVEN, *QUICK)
    assert relative_distance(fast, exact) < 1e-5


def test_the_microbatch_changes_a_network_without_batch_norm_only_to_rounding(tmp_path: Path) -> None:
    sizes = (80, 16, 33)
    runs = [
        train(
            1,
            "digits/fc_64_64",
            tmp_path / str(n),
            *QUICK,
            "--set",
            "recipe.global_batch=80",
            "--set",
            f"recipe.microbatch={n}",
        )
        for n in sizes
    ]
    for run in runs[1:]:
        assert relative_distance(runs[0], run) < 1e-5


def test_another_seed_gives_another_model(tmp_path: Path) -> None:
    runs = [train(1, "digits/fc_64_64", tmp_path / str(n), *QUICK, "--set", f"recipe.seed={n}") for n in (0, 1)]
    assert relative_distance(*runs) > 0.1


def test_nothing_is_left_in_shared_memory(tmp_path: Path) -> None:
    train(3, "digits/fc_64_64", tmp_path / "run", *UNEVEN, *QUICK)
    assert not list(Path("/dev/shm").glob("scalewise-*"))


def test_sums_by_messages_keep_the_law(tmp_path: Path) -> None:
    """Workers that believe to be on different machines cannot share memory."""
    runs = [train(1, "digits/fc_64_64", tmp_path / "1", *UNEVEN, *QUICK)]
    for workers in (2, 3):
        out = tmp_path / str(workers)
        arguments = ("train", "digits/fc_64_64", "--out", out, *UNEVEN, *QUICK)
        ended = group(workers, *arguments, env={"LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"})
        assert ended.exit_code == 0, ended.output
        runs.append(Run(out))
    for run in runs[1:]:
        assert relative_distance(runs[0], run) < 1e-5


def test_without_enough_shared_memory_there_are_no_files_left() -> None:
    assert sums._make_files(["0", "1"], 1 << 50, World(workers=2)) is None
    assert not list(Path("/dev/shm").glob("scalewise-*"))
