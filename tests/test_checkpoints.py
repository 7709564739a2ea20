"""Checkpoints survive what disks do."""

import hashlib
import json
import resource
import shutil
import time
from pathlib import Path

import pytest
import torch

from mischief import MISCHIEF, mischief
from processes import NETS, Run, finish, group, start, train
from scalewise.config import Checkpoint
from scalewise.errors import FolderError
from scalewise.recipe.resolve import resolve_checkpoint
from scalewise.record.checkpoints import Checkpoints
from scalewise.record.results.checkpoint import CheckpointNumbers
from scalewise.run.recorder import CheckpointTimer
from scalewise.storage import LocalStore

NUMBERS = CheckpointNumbers(workload="digits/fc_64_64")
EVERY_5 = ("--exact", "--set", "checkpoint.every_steps=5")


@pytest.fixture
def stopped(tmp_path: Path) -> Run:
    """A run that was stopped after step 22 or so, with checkpoints at 15, 20 and there."""
    env = mischief("SIGTERM", tmp_path / "once", count=110)
    ended = group(1, "train", MISCHIEF, "--out", tmp_path / "run", *EVERY_5, env=env)
    assert ended.exit_code == 4, ended.output
    return Run(tmp_path / "run")


@pytest.fixture
def reference(tmp_path: Path) -> Run:
    return train(1, MISCHIEF, tmp_path / "reference", *EVERY_5)


def test_the_last_three_are_kept_with_a_manifest(stopped: Run) -> None:
    assert stopped.checkpoints == [15, 20, 22]
    for step in stopped.checkpoints:
        folder = stopped.path / "checkpoints" / str(step)
        manifest = json.loads((folder / "manifest.json").read_text())
        assert manifest["step"] == step
        assert manifest["files"].keys() | {"manifest.json"} == {file.name for file in folder.iterdir()}
        for name, digest in manifest["files"].items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("damage", ["flip", "truncate", "missing", "empty manifest"])
def test_a_damaged_newest_is_reported_and_the_one_before_it_used(damage: str, stopped: Run, reference: Run) -> None:
    folder = stopped.path / "checkpoints" / "22"
    tensors = folder / "tensors.safetensors"
    content = tensors.read_bytes()
    if damage == "flip":
        tensors.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "truncate":
        tensors.write_bytes(content[:100])
    elif damage == "missing":
        tensors.unlink()
    else:
        (folder / "manifest.json").write_text("{}")
    run = train(1, MISCHIEF, stopped.path, *EVERY_5)
    assert "the checkpoint at step 22 is damaged" in run.output
    assert "continues from the checkpoint at step 20" in run.output
    assert run.bits == reference.bits
    assert run.rows == reference.rows


def test_when_all_are_damaged_it_starts_from_the_beginning(stopped: Run, reference: Run) -> None:
    for step in stopped.checkpoints:
        (stopped.path / "checkpoints" / str(step) / "numbers.json").write_text("")
    run = train(1, MISCHIEF, stopped.path, *EVERY_5)
    assert "continues" not in run.output
    assert run.bits == reference.bits
    assert run.rows == reference.rows


def test_a_half_written_checkpoint_is_ignored(stopped: Run, reference: Run) -> None:
    shutil.copytree(stopped.path / "checkpoints" / "22", stopped.path / "checkpoints" / ".27.partial")
    run = train(1, MISCHIEF, stopped.path, *EVERY_5)
    assert "continues from the checkpoint at step 22" in run.output
    assert run.bits == reference.bits


def test_a_checkpoint_of_another_workload_is_refused(stopped: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copytree(stopped.path / "checkpoints", other / "checkpoints")
    ended = group(1, "train", "digits/fc_64", "--out", other)
    assert ended.exit_code == 2
    assert "belongs to the workload" in ended.output and "not 'digits/fc_64'" in ended.output


def test_a_checkpoint_of_another_network_is_refused(stopped: Run, tmp_path: Path) -> None:
    """The same name, but the user has changed the file."""
    file = tmp_path / "changed.py"
    asked = ("train", f"{file}:Mischief", "--out", tmp_path / "changed", *EVERY_5)
    file.write_text(NETS.read_text())
    assert group(1, *asked, env=mischief("SIGTERM", tmp_path / "once again", count=110)).exit_code == 4
    file.write_text(
        NETS.read_text() + "\n\nMischief.model = lambda self: nn.Sequential(nn.Flatten(), nn.Linear(64, 10))\n"
    )
    ended = group(1, *asked)
    assert ended.exit_code == 2, ended.output
    assert "its tensors have other names or shapes" in ended.output


def test_a_checkpoint_of_another_seed_is_reported_and_the_one_before_it_used(
    stopped: Run, reference: Run, tmp_path: Path
) -> None:
    """It has the same names and shapes, so that nothing but the recipe tells it from our own."""
    other = train(1, MISCHIEF, tmp_path / "other", *EVERY_5, "--set", "recipe.seed=1", "--set", "checkpoint.keep=99")
    shutil.copytree(other.path / "checkpoints" / "25", stopped.path / "checkpoints" / "25")
    run = train(1, MISCHIEF, stopped.path, *EVERY_5)
    assert "the checkpoint at step 25 belongs to a run of another recipe" in run.output
    assert "continues from the checkpoint at step 22" in run.output
    assert run.bits == reference.bits


def test_a_run_with_nothing_but_foreign_checkpoints_is_refused(stopped: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copytree(stopped.path / "checkpoints", other / "checkpoints")
    ended = group(1, "train", MISCHIEF, "--out", other, *EVERY_5, "--set", "recipe.seed=1")
    assert ended.exit_code == 2
    assert "belongs to a run of another recipe" in ended.output
    assert Run(other).checkpoints == stopped.checkpoints


def test_a_renamed_checkpoint_is_reported_and_the_one_before_it_used(stopped: Run, reference: Run) -> None:
    (stopped.path / "checkpoints" / "22").rename(stopped.path / "checkpoints" / "23")
    run = train(1, MISCHIEF, stopped.path, *EVERY_5)
    assert "the checkpoint at step 23 is damaged (it was written at step 22)" in run.output
    assert "continues from the checkpoint at step 20" in run.output
    assert run.bits == reference.bits


def test_checkpoints_of_version_0_1_0_are_still_read(stopped: Run, reference: Run) -> None:
    for step in stopped.checkpoints:
        folder = stopped.path / "checkpoints" / str(step)
        content = json.dumps({"step": step, **json.loads((folder / "numbers.json").read_text())}).encode()
        (folder / "numbers.json").write_bytes(content)
        digests = json.loads((folder / "manifest.json").read_text())["files"]
        digests["numbers.json"] = hashlib.sha256(content).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(digests))
    run = train(1, MISCHIEF, stopped.path, *EVERY_5)
    assert "continues from the checkpoint at step 22" in run.output
    assert run.bits == reference.bits


def test_a_full_disk_does_not_end_the_training(tmp_path: Path) -> None:
    """Files may grow to the size of the model, but not of the model with its optimizer state."""
    reference = train(1, "digits/fc_64_64", tmp_path / "reference", "--exact")
    limit = (tmp_path / "reference" / "model.safetensors").stat().st_size + 8_192
    process = start(
        *("train", "digits/fc_64_64", "--exact", "--out", tmp_path / "run", "--set", "checkpoint.every_steps=50"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    ended = finish(process)
    assert ended.exit_code == 0, ended.output
    assert "no checkpoint at step 50, but training continues: cannot write" in ended.output
    assert "File too large" in ended.output
    assert Run(tmp_path / "run").bits == reference.bits
    assert list((tmp_path / "run" / "checkpoints").iterdir()) == []


def test_automatic_checkpoints_cost_under_one_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    timer = CheckpointTimer(resolve_checkpoint(Checkpoint()))
    now += 59
    assert not timer.due(step=1)
    now += 1
    assert timer.due(step=1)
    timer.done(cost_seconds=2.0)
    now += 199
    assert not timer.due(step=2)
    now += 1
    assert timer.due(step=2)


def test_other_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    steps = CheckpointTimer(resolve_checkpoint(Checkpoint(every_steps=10, every_seconds=None)))
    seconds = CheckpointTimer(resolve_checkpoint(Checkpoint(every_seconds=5)))
    now += 5
    assert [steps.due(step) for step in (9, 10, 11)] == [False, True, False]
    assert seconds.due(step=1)
    seconds.done(cost_seconds=100.0)
    assert not seconds.due(step=2)


def test_the_time_of_checkpoints_is_counted_apart(reference: Run) -> None:
    assert reference.metadata["checkpoint_seconds"] > 0


def test_a_failed_checkpoint_leaves_the_older_ones(tmp_path: Path) -> None:
    checkpoints = Checkpoints(LocalStore(tmp_path))
    checkpoints.save(1, "recipe", {"weight": torch.ones(2)}, NUMBERS, keep=1)
    (tmp_path / "2").write_text("a file where the folder should be made")
    with pytest.raises(FolderError, match=r"cannot write .*/2: Not a directory; fix that"):
        checkpoints.save(2, "recipe", {"weight": torch.ones(2)}, NUMBERS, keep=1)
    assert checkpoints.steps() == [1]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["1", "2"]


def test_a_disk_that_takes_no_measurement_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "run" / "measurements.csv").mkdir(parents=True)
    ended = group(2, "train", "digits/fc_64_64", "--out", tmp_path / "run")
    assert ended.exit_code == 2
    assert "cannot write" in ended.output and "fix that, then run the same command again to continue" in ended.output
