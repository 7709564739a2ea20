"""The store on this machine, among processes: several that write, killed ones, forked ones, and a full disk."""

import contextlib
import fcntl
import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import PATIENCE_SECONDS, alive, wait_until
from scalewise.errors import FolderError
from scalewise.record.folder import RunFolder
from scalewise.storage import LocalStore, write_result
from stores import (
    NEW,
    OLD,
    ROUNDS,
    append_lines,
    assert_nothing_is_lost,
    finish,
    process,
    read_in_turn,
    write_folders,
    write_in_turn,
)


@pytest.fixture
def local(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def entries(local: LocalStore) -> list[str]:
    """List everything that is really there."""
    return sorted(entry.name for entry in local.root.iterdir())


def test_readers_beside_three_processes_that_write_see_the_old_or_the_new(local: LocalStore) -> None:
    local.write("shared", OLD)
    with (
        process(write_in_turn, local, OLD) as one,
        process(write_in_turn, local, NEW) as two,
        process(write_in_turn, local, NEW) as three,
        process(read_in_turn, local) as reader,
    ):
        finish(one, two, three, reader)
    assert entries(local) == ["shared"]


def test_folders_of_several_processes_are_written_and_removed_beside_each_other(local: LocalStore) -> None:
    with process(write_folders, local, 1) as one, process(write_folders, local, 2) as two:
        while one.is_alive() or two.is_alive():
            names = local.names()  # a folder may be removed while it is read
            assert {name.partition("/")[2] for name in names} <= {"one", "two"}
        finish(one, two)
    last = ROUNDS - 1
    assert local.names() == [f"1-{last}/one", f"1-{last}/two", f"2-{last}/one", f"2-{last}/two"]
    assert entries(local) == [f"1-{last}", f"2-{last}"]


def test_what_two_processes_append_follows_each_other_whole(local: LocalStore) -> None:
    with process(append_lines, local, 1) as one, process(append_lines, local, 2) as two:
        finish(one, two)
    assert_nothing_is_lost(local)


def stop_in_the_middle(local: LocalStore) -> None:
    """Begin to write, and stay there: all is written, and nothing is on the disk for sure."""

    def say_so_and_stay(fd: object) -> None:
        (local.root / "in the middle").touch()
        time.sleep(PATIENCE_SECONDS)

    os.fsync = say_so_and_stay
    local.write("file", NEW)


def stop_in_the_middle_of_a_folder(local: LocalStore) -> None:
    def say_so_and_stay(path: Path, target: Path) -> Path:
        (local.root / "in the middle").touch()
        time.sleep(PATIENCE_SECONDS)
        return target

    Path.rename = say_so_and_stay  # type: ignore[method-assign, assignment]
    local.write_together("folder", {"one": OLD, "two": NEW})


@pytest.mark.parametrize("stop", [stop_in_the_middle, stop_in_the_middle_of_a_folder])
def test_a_writer_killed_in_the_middle_leaves_the_old(stop: Callable[[LocalStore], None], local: LocalStore) -> None:
    local.write("file", OLD)
    with process(stop, local) as writer:
        wait_until((local.root / "in the middle").exists, "it is in the middle")
        (local.root / "in the middle").unlink()
        assert len(entries(local)) == 2
        local.write("other", b"")  # whose writer leaves alone what is being written
        local.remove("other")
        assert len(entries(local)) == 2
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
    assert local.names() == ["file"]
    assert (local.read("file"), local.exists("folder")) == (OLD, False)
    local.write("other", b"")
    assert entries(local) == ["file", "other"]  # nothing of what was killed is left


def write_without_end(local: LocalStore) -> None:
    while True:
        local.write("file", OLD)
        local.write("file", NEW)


def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new(local: LocalStore) -> None:
    seed = random.randrange(10**6)
    print(f"random moments from seed {seed}")
    moments = random.Random(seed)
    for _ in range(20):
        with process(write_without_end, local) as writer:
            wait_until(lambda: local.exists("file"), "it writes")
            time.sleep(moments.uniform(0, 0.05))  # the random moment itself, not a wait for something
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
        assert local.names() == ["file"]
        assert local.read("file") in (OLD, NEW)
    local.write("file", OLD)
    assert entries(local) == ["file"]


def fill_the_disk(local: LocalStore) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    writes: list[Callable[[], None]] = [
        lambda: local.write("file", NEW),
        lambda: local.append("file", NEW),
        lambda: local.write_together("folder", {"small": b"", "large": NEW}),
        lambda: write_result(local.root / "file", NEW),
    ]
    for write in writes:
        with pytest.raises(FolderError, match=r"^cannot write .*/(file|folder): File too large; fix that, then"):
            write()


def test_a_full_disk_leaves_the_old(local: LocalStore) -> None:
    local.write("file", b"old")
    with process(fill_the_disk, local) as writer:
        finish(writer)
    assert entries(local) == ["file"]
    assert local.read("file") == b"old"


def test_the_folder_that_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match=f"^cannot write {tmp_path}/file: File exists; fix"):
        LocalStore(tmp_path).write("file/below", b"")
    with pytest.raises(FolderError, match=r"^cannot write .*: Not a directory; fix"):
        LocalStore(tmp_path / "file" / "below").claim("")


def test_files_are_as_open_to_others_as_the_user_wants(local: LocalStore) -> None:
    before = os.umask(0o027)
    try:
        local.write("file", b"")
        local.write_together("folder", {"file": b""})
    finally:
        os.umask(before)
    modes = [(local.root / name).stat().st_mode & 0o777 for name in ("file", "folder", "folder/file")]
    assert modes == [0o640, 0o750, 0o640]


def claim_and_stay(local: LocalStore) -> None:
    assert local.claim("it") is not None
    local.write("claimed", b"")
    time.sleep(PATIENCE_SECONDS)


def test_a_claim_ends_with_its_process_however_it_dies(local: LocalStore) -> None:
    with process(claim_and_stay, local) as first:
        wait_until(lambda: local.exists("claimed"), "it is claimed")
        assert local.claim("it") is None
        holder = local.holder("it")
        assert holder is not None and (holder.process, holder.gone) == (first.pid, False)
        os.kill(first.pid, signal.SIGKILL)
        first.join()
        assert holder.gone
        with local.claimed("it") as got_it:
            assert got_it


def claim_and_fork(local: LocalStore, child_releases: bool) -> None:
    """Claim, then fork a child that lives on, as a reader of stored data does."""
    claim = local.claim("it")
    assert claim is not None
    child = os.fork()
    if child == 0:
        if child_releases:
            claim.release()  # as at the end of a `with` block; it is not the child's to release
        local.write("forked", str(os.getpid()).encode())
    time.sleep(PATIENCE_SECONDS)


@pytest.mark.parametrize("child_releases", [False, True])
def test_a_forked_child_neither_holds_nor_releases_a_claim(child_releases: bool, local: LocalStore) -> None:
    with process(claim_and_fork, local, child_releases) as parent:
        wait_until(lambda: local.exists("forked"), "the child lives")
        child = int(local.read("forked") or b"")
        try:
            holder = local.holder("it")
            assert local.claim("it") is None
            assert holder is not None and holder.process == parent.pid
            os.kill(parent.pid, signal.SIGKILL)
            parent.join()
            assert alive(child)
            with local.claimed("it") as got_it:
                assert got_it
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_child_can_claim_what_its_parent_has_released(local: LocalStore) -> None:
    with process(claim_in_child, local) as parent:
        finish(parent)


def claim_in_child(local: LocalStore) -> None:
    claim = local.claim("it")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        os._exit(0 if local.claim("it") is not None else 1)
    assert claim is not None
    claim.release()
    os.write(write, b".")
    assert os.waitpid(child, 0)[1] == 0


def claim_run_and_leave_a_process(path: Path) -> None:
    """Claim a run folder, and give the file of the lock to a process that knows nothing of it."""
    with RunFolder(path).claimed():
        files = [int(entry.name) for entry in Path("/proc/self/fd").iterdir() if _is_lock(entry)]
        left = subprocess.Popen(["sleep", str(PATIENCE_SECONDS)], pass_fds=files)
        (path / "left").write_text(str(left.pid))
        time.sleep(PATIENCE_SECONDS)


def _is_lock(descriptor: Path) -> bool:
    with contextlib.suppress(OSError):
        return descriptor.readlink().name == ".lock"
    return False


def test_that_the_holder_is_dead_is_noticed(tmp_path: Path) -> None:
    with process(claim_run_and_leave_a_process, tmp_path) as holder:
        wait_until(lambda: (tmp_path / "left").exists() and (tmp_path / "left").read_text() != "", "it has left one")
        os.kill(holder.pid, signal.SIGKILL)
        holder.join()
    says = f"was being written by process {holder.pid}, which has ended, but a process that it started still holds"
    try:
        with pytest.raises(FolderError, match=says), RunFolder(tmp_path).claimed():
            pass
    finally:
        os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)
    with RunFolder(tmp_path).claimed():
        pass


def test_a_lock_on_a_folder_that_was_moved_is_no_claim(local: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    local.write("run/file", b"")
    lock = fcntl.flock

    def move_then_lock(descriptor: int, operation: int) -> None:
        monkeypatch.undo()
        local.move("run", "before")
        local.write("run/file", b"")
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", move_then_lock)
    run = LocalStore(local.root / "run")
    assert run.claim("") is None
    assert run.claim("") is not None
