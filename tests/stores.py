"""What writers and readers do to a store, in threads and in processes, while others do the same."""

import contextlib
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from typing import Any

from processes import PATIENCE_SECONDS
from scalewise.storage import Store

OLD, NEW = b"o" * 300_000, b"n" * 200_000
ROUNDS = 40

_forked = multiprocessing.get_context("forkserver")


@contextlib.contextmanager
def process(target: Callable[..., None], *arguments: object) -> Iterator[Any]:
    """Run a function in a process of its own, which is killed at the end if it is still there."""
    started = _forked.Process(target=target, args=arguments)
    started.start()
    try:
        yield started
    finally:
        started.kill()
        started.join()


def finish(*processes: Any) -> None:
    for one in processes:
        one.join(PATIENCE_SECONDS)
        assert one.exitcode == 0


def in_threads(*targets: Callable[[], None]) -> None:
    """Run all functions at the same time, and fail where any of them does."""
    failures: list[BaseException] = []

    def run(target: Callable[[], None]) -> None:
        try:
            target()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert not failures


def write_in_turn(store: Store, content: bytes) -> None:
    for _ in range(ROUNDS):
        store.write("shared", content)


def read_in_turn(store: Store) -> None:
    for _ in range(5 * ROUNDS):
        assert store.read("shared") in (OLD, NEW)
        assert store.names() == ["shared"]


def write_folders(store: Store, writer: int) -> None:
    for number in range(ROUNDS):
        store.write_together(f"{writer}-{number}", {"one": OLD, "two": NEW})
        store.remove(f"{writer}-{number - 1}")


def append_lines(store: Store, writer: int) -> None:
    for number in range(ROUNDS):
        store.append("table", f"{writer},{number},{'x' * 5000}\n".encode())


def lines_of(store: Store, writer: int) -> list[bytes]:
    lines = (store.read("table") or b"").splitlines()
    assert all(line.count(b",") == 2 and line.endswith(b"x" * 5000) for line in lines)
    return [line for line in lines if line.startswith(f"{writer},".encode())]


def assert_nothing_is_lost(store: Store) -> None:
    for writer in (1, 2):
        found = [int(line.split(b",")[1]) for line in lines_of(store, writer)]
        assert found == list(range(ROUNDS))
