"""One suite that every store must pass."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import wait_until
from scalewise.errors import FolderError
from scalewise.storage import LocalStore, MemoryStore, Store
from stores import NEW, OLD, ROUNDS, append_lines, assert_nothing_is_lost, in_threads, read_in_turn, write_in_turn

STORES: dict[str, Callable[[Path], Store]] = {"local": LocalStore, "memory": lambda path: MemoryStore()}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return STORES[request.param](tmp_path / "store")


def test_what_was_written_last_is_read(store: Store) -> None:
    store.write("file", b"first")
    store.write("file", b"second")
    store.write("a/b/c", b"")
    assert (store.read("file"), store.read("a/b/c")) == (b"second", b"")
    assert store.exists("file") and store.exists("a/b/c") and store.exists("a/b") and store.exists("a")


def test_what_is_missing_is_none(store: Store) -> None:
    store.write("file", b"")
    store.write("folder/file", b"")
    for name in ("missing", "no/such/file", "file/below", "folder"):
        assert store.read(name) is None
    assert not store.exists("missing") and not store.exists("file/below") and not store.exists("fil")
    assert store.names("missing") == []


def test_files_are_listed_below_a_folder(store: Store) -> None:
    assert store.names() == []
    for name in ("b/2/x", "a", "b/1", "bc"):
        store.write(name, b"")
    with store.claimed(""), store.claimed("b/2"):
        assert store.names() == ["a", "b/1", "b/2/x", "bc"]
        assert store.names("b") == ["b/1", "b/2/x"]
        assert store.names("a") == []


@pytest.mark.parametrize("name", ["with spaces in it", "Größe/模型/🧪", "a'b\"c$d;e*f", "22.damaged", "x" * 250])
def test_any_name_will_do(name: str, store: Store) -> None:
    store.write(name, b"content")
    store.append(name, b" and more")
    assert store.read(name) == b"content and more"
    assert store.names() == [name]
    assert name in store.address(name)
    with store.claimed(name[:200]) as got_it:
        assert got_it


@pytest.mark.parametrize(
    "name", ["", "/absolute", "..", "../outside", "a/../../b", "a//b", "a/", "./a", ".hidden", "a/.b", "a.lock", "a\0b"]
)
def test_names_that_lead_out_of_a_store_or_into_its_own_are_refused(name: str, store: Store) -> None:
    uses: list[Callable[[], object]] = [
        lambda: store.read(name),
        lambda: store.write(name, b""),
        lambda: store.append(name, b""),
        lambda: store.write_together(name, {"file": b""}),
        lambda: store.write_together("folder", {name: b""}),
        lambda: store.exists(name),
        lambda: store.remove(name),
        lambda: store.move(name, "other"),
        lambda: store.move("other", name),
        *([lambda: store.claim(name), lambda: store.names(name)] if name else []),  # the whole store has no name
    ]
    for use in uses:
        with pytest.raises(ValueError, match="is not a name for a file in a store"):
            use()
    assert store.names() == []


def test_what_is_appended_comes_last(store: Store) -> None:
    store.append("new/file", b"1\n")
    store.append("new/file", b"2\n")
    store.write("new/file", (store.read("new/file") or b"") + b"3\n")
    store.append("new/file", b"4\n")
    assert store.read("new/file") == b"1\n2\n3\n4\n"


def test_files_that_are_written_together(store: Store) -> None:
    store.write_together("deep/folder", {"one": b"1", "two": b"2"})
    assert store.names() == ["deep/folder/one", "deep/folder/two"]
    with pytest.raises(FolderError, match=r"cannot write .*deep/folder: "):
        store.write_together("deep/folder", {"one": b"3"})
    assert store.read("deep/folder/one") == b"1"


def test_files_and_folders_are_moved(store: Store) -> None:
    store.write("a/1", b"1")
    store.write("a/2/3", b"3")
    store.write("b", b"b")
    store.move("a", "new/a")
    store.move("b", "new/b")
    assert {name: store.read(name) for name in store.names()} == {"new/a/1": b"1", "new/a/2/3": b"3", "new/b": b"b"}
    for taken in ("new/b", "new/a"):
        with pytest.raises(FolderError, match="cannot"):
            store.move("new/a/1", taken)
    with pytest.raises(FolderError, match="cannot"):
        store.move("missing", "other")
    assert store.names() == ["new/a/1", "new/a/2/3", "new/b"]


def test_files_and_folders_are_removed(store: Store) -> None:
    for name in ("a/1", "a/2/3", "b", "c"):
        store.write(name, b"")
    for name in ("a", "b", "missing", "missing/too"):
        store.remove(name)
    assert store.names() == ["c"]
    assert not store.exists("a")


def test_a_file_and_a_folder_do_not_share_a_name(store: Store) -> None:
    store.write("file", b"content")
    store.write("folder/file", b"content")
    fix = "fix that, then run the same command again to continue"
    for write in (store.write, store.append):
        for name in ("file/below", "folder"):
            with pytest.raises(FolderError, match=f"^cannot write [^;]*; {fix}$"):
                write(name, b"")
    assert store.names() == ["file", "folder/file"]


def test_readers_beside_two_threads_that_write_see_the_old_or_the_new(store: Store) -> None:
    store.write("shared", OLD)
    writers = [lambda: write_in_turn(store, OLD), lambda: write_in_turn(store, NEW)]
    in_threads(*writers, lambda: read_in_turn(store), lambda: read_in_turn(store))
    assert store.names() == ["shared"]


def test_what_two_threads_append_follows_each_other_whole(store: Store) -> None:
    in_threads(lambda: append_lines(store, 1), lambda: append_lines(store, 2))
    assert_nothing_is_lost(store)


def test_one_at_a_time_has_a_claim(store: Store) -> None:
    assert store.holder("a/b") is None
    claim = store.claim("a/b")
    assert claim is not None
    assert store.claim("a/b") is None
    holder = store.holder("a/b")
    assert holder is not None and (holder.process, holder.gone) == (os.getpid(), False)
    with store.claimed("a/c") as other, store.claimed("") as whole, store.claimed("") as again:
        assert (other, whole, again) == (True, True, False)
    claim.release()
    assert store.holder("a/b") is None
    with store.claimed("a/b") as got_it:
        claim.release()  # once more, which takes nothing from the new holder
        assert (got_it, store.claim("a/b")) == (True, None)


def test_threads_that_claim_never_meet(store: Store) -> None:
    inside, taken = threading.Lock(), 0

    def work() -> None:
        nonlocal taken
        mine = 0
        while mine < ROUNDS:
            with store.claimed("it") as got_it:
                if got_it:
                    assert inside.acquire(blocking=False)
                    taken, mine = taken + 1, mine + 1
                    inside.release()

    in_threads(work, work, work)
    assert taken == 3 * ROUNDS


def test_a_heartbeat_is_seen(store: Store) -> None:
    store.heartbeat("it")  # nobody has it: nothing happens
    assert store.holder("it") is None
    with store.claimed("it"):
        wait_until(lambda: silent_seconds(store) > 0.2, "it has been silent")
        before = time.monotonic()
        store.heartbeat("it")
        assert silent_seconds(store) <= time.monotonic() - before + 0.05  # the clock of files is a coarse one
    assert store.names() == []


def silent_seconds(store: Store) -> float:
    holder = store.holder("it")
    assert holder is not None
    return holder.silent_seconds
