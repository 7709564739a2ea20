"""Stopped anywhere and resumed, on the same or another number of workers: the same model as never stopped."""

import random
from pathlib import Path

import pytest

from mischief import MISCHIEF, mischief
from processes import Run, group, train

SIGNALS = ("SIGTERM", "SIGINT", "SIGUSR1")


def stopped(workers: int, out: Path, *arguments: str, rank: int, count: int, during: str, name: str = "SIGTERM") -> Run:
    """Train until one worker gets a signal while it computes its `count`-th loss or metric."""
    once = out.with_suffix(f".{name}{during}{count}")
    env = mischief(name, once, rank=rank, count=count, during=during)
    ended = group(workers, "train", MISCHIEF, "--out", out, *arguments, env=env)
    assert ended.exit_code == 4, ended.output
    run = Run(out, ended.output)
    assert run.metadata["status"] == "INCOMPLETE"
    assert run.checkpoints[-1] == run.metadata["steps"]
    return run


def assert_same(run: Run, reference: Run) -> None:
    assert run.bits == reference.bits
    assert run.rows == reference.rows
    assert run.metadata["status"] == "COMPLETE"
    assert run.metadata["steps"] == reference.metadata["steps"]


@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 2), (3, 2), (1, 4), (4, 1)])
def test_exact_resume_on_any_number_of_workers(before: int, after: int, tmp_path: Path) -> None:
    reference = train(1, MISCHIEF, tmp_path / "reference", "--exact")
    stopped(before, tmp_path / "run", "--exact", rank=before - 1, count=17, during="loss")
    assert_same(train(after, MISCHIEF, tmp_path / "run", "--exact"), reference)


def test_fast_resume_is_bit_identical_at_the_same_number_of_workers(tmp_path: Path) -> None:
    reference = train(2, MISCHIEF, tmp_path / "reference")
    stopped(2, tmp_path / "run", rank=1, count=17, during="loss")
    assert_same(train(2, MISCHIEF, tmp_path / "run"), reference)


def test_stopped_again_and_again_at_random_moments_by_every_signal(tmp_path: Path) -> None:
    reference = train(1, MISCHIEF, tmp_path / "reference", "--exact")
    seed = random.randrange(10**6)
    print(f"random moments from seed {seed}")
    moments = random.Random(seed)
    for name in SIGNALS:
        workers = moments.randint(1, 4)
        # The first loss is that of the probe, before there is anything to save.
        count, rank = moments.randint(2, 8), moments.randrange(workers)
        print(f"{name} to worker {rank} of {workers} at its loss number {count}")
        run = stopped(workers, tmp_path / "run", "--exact", rank=rank, count=count, during="loss", name=name)
        assert run.metadata["steps"] < 30
    assert_same(train(2, MISCHIEF, tmp_path / "run", "--exact"), reference)


@pytest.mark.parametrize("count", [2, 8])  # in the evaluation at step 0, and in that at step 10
def test_a_signal_during_evaluation_loses_and_doubles_no_row(count: int, tmp_path: Path) -> None:
    reference = train(1, MISCHIEF, tmp_path / "reference", "--exact")
    run = stopped(2, tmp_path / "run", "--exact", rank=1, count=count, during="metrics")
    assert run.metadata["steps"] in (0, 10)
    assert_same(train(2, MISCHIEF, tmp_path / "run", "--exact"), reference)


def test_rows_written_after_the_last_checkpoint_are_not_doubled(tmp_path: Path) -> None:
    reference = train(1, MISCHIEF, tmp_path / "reference", "--exact")
    run = stopped(1, tmp_path / "run", "--exact", rank=0, count=40, during="loss")
    table = run.path / "measurements.csv"
    table.write_text(table.read_text() + "20,9,9,9,9,9,9\n30,9,9")  # later rows, the last one cut short
    assert_same(train(1, MISCHIEF, run.path, "--exact"), reference)


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    first = train(1, MISCHIEF, tmp_path / "run")
    before = first.metadata
    second = train(2, MISCHIEF, tmp_path / "run")
    assert second.metadata == before
    assert "COMPLETE" in second.output


def test_seconds_count_over_all_sittings(tmp_path: Path) -> None:
    limits = ("--set", "stop.steps=null", "--set", "stop.seconds=1")
    run = stopped(1, tmp_path / "run", *limits, rank=0, count=6, during="loss")
    used = run.metadata["training_seconds"]
    assert 0 < used < 1
    run = train(2, MISCHIEF, tmp_path / "run", *limits)
    assert run.metadata["stopped_by"] == "seconds"
    assert run.metadata["training_seconds"] >= 1
