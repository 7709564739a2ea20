"""Data on disk: read ahead by processes of its own, and the same model as from memory."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from processes import NETS, alive, children, finish, group, start, train, wait_until
from scalewise.bench.verdict import Verdict
from scalewise.record.folder import RunFolder

MEMORY, STORED = f"{NETS}:Dropout", f"{NETS}:Stored"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "files"
    monkeypatch.setenv("SCALEWISE_TEST_FILES", str(folder))
    return folder


@pytest.mark.parametrize("readers", [0, 2])
def test_the_same_model_as_from_memory(files: Path, readers: int, tmp_path: Path) -> None:
    settings = ("--exact", "--set", f"cluster.readers={readers}")
    env = {"SCALEWISE_TEST_FILES": str(files)}
    memory = train(1, MEMORY, tmp_path / "memory", "--exact")
    ended = group(2, "train", STORED, "--out", tmp_path / "disk", *settings, env=env)
    assert ended.exit_code == 0, ended.output
    assert (tmp_path / "disk" / "model.safetensors").read_bytes() == memory.bits
    assert (tmp_path / "disk" / "measurements.csv").read_text() == (memory.path / "measurements.csv").read_text()


def test_stopped_in_the_middle_of_a_step_it_goes_on_where_it_was(files: Path, tmp_path: Path) -> None:
    arguments = ("--exact", "--set", "cluster.readers=2")
    env = {"SCALEWISE_TEST_FILES": str(files)}
    whole = group(1, "train", STORED, "--out", tmp_path / "whole", *arguments, env=env)
    assert whole.exit_code == 0, whole.output
    slow = {**env, "SCALEWISE_TEST_SLOW_DISK": "3"}
    process = start("train", STORED, "--out", tmp_path / "stopped", *arguments, env=slow)
    wait_until(lambda: len(children(process.pid)) >= 2, "processes read ahead")
    process.terminate()
    assert finish(process).exit_code == 4
    resumed = group(1, "train", STORED, "--out", tmp_path / "stopped", *arguments, env=env)
    assert resumed.exit_code == 0, resumed.output
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "stopped")]
    assert models[0] == models[1]


def test_readers_of_a_killed_training_do_not_block_its_folder(files: Path, tmp_path: Path) -> None:
    """They are forked from a process that holds the folder, and may outlive it."""
    process, readers = reading_ahead(files, tmp_path / "run")
    wait_until(lambda: all(map(watches_its_parent, readers)), "they have begun")
    stop(process, readers)
    with RunFolder(tmp_path / "run").claimed():
        assert all(map(alive, readers))
    go_on(readers)
    finish(process)
    ended = group(1, "train", STORED, "--out", tmp_path / "run", *READ, env={"SCALEWISE_TEST_FILES": str(files)})
    assert ended.exit_code == 0, ended.output


def test_readers_end_with_a_training_that_dies_while_they_start(files: Path, tmp_path: Path) -> None:
    process, readers = reading_ahead(files, tmp_path / "run")
    stop(process, readers)
    go_on(readers)
    finish(process)  # when the last of them has closed its output


READ = ("--exact", "--set", "cluster.readers=2")


def reading_ahead(files: Path, out: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a training, and return it as soon as it has readers."""
    env = {"SCALEWISE_TEST_FILES": str(files), "SCALEWISE_TEST_SLOW_DISK": "3"}
    process = start("train", STORED, "--out", out, *READ, env=env)
    wait_until(lambda: (out / "run.yaml").exists() and len(children(process.pid)) >= 2, "readers read ahead")
    return process, children(process.pid)


def watches_its_parent(reader: int) -> bool:
    return len(list(Path(f"/proc/{reader}/task").iterdir())) > 1


def stop(process: subprocess.Popen[str], readers: list[int]) -> None:
    """Kill a training while its readers cannot move."""
    for reader in readers:
        os.kill(reader, signal.SIGSTOP)
    process.kill()
    process.wait()


def go_on(readers: list[int]) -> None:
    for reader in readers:
        os.kill(reader, signal.SIGCONT)


def test_a_slow_disk_is_found(files: Path, tmp_path: Path) -> None:
    env = {"SCALEWISE_TEST_SLOW_DISK": "2", "SCALEWISE_TEST_FILES": str(files)}
    arguments = ("bench", STORED, "--workers", 2, "--seconds", 1, "--out", tmp_path / "bench")
    ended = group(2, *arguments, env=env)
    assert ended.exit_code == 0, ended.output
    assert f"2 x 64: {Verdict.INPUT}" in ended.output
    ended = group(2, *arguments, "--synthetic", env=env)
    assert ended.exit_code == 0, ended.output
    assert Verdict.INPUT not in ended.output


def test_a_data_set_that_cannot_be_read_is_the_users_mistake(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    for name in ("train", "val", "test"):
        (folder / name).mkdir(parents=True)  # and no files in it
    ended = group(1, "train", STORED, "--out", tmp_path / "out", env={"SCALEWISE_TEST_FILES": str(folder)})
    assert ended.exit_code == 2
    assert (
        "split train must give pairs (input, target) by number; its first one fails: FileNotFoundError" in ended.output
    )


def test_a_study_of_stored_data_ends(files: Path, tmp_path: Path) -> None:
    """Its jobs are processes that Python ends by waiting for their children, and readers ignore its signals."""
    settings = ("--batch-sizes", "16", "--trials", "2", "--max-steps", "4", "--target", "val/classification_error<0.01")
    env = {"SCALEWISE_TEST_FILES": str(files)}
    ended = group(1, "study", STORED, *settings, "--set", "cluster.readers=2", "--out", tmp_path / "study", env=env)
    assert ended.exit_code == 0, ended.output
