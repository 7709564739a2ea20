"""Real limits for tests: little memory, and a slow network. They need root, as a container has it."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY_VERSION_1, _VERSION_2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


@contextlib.contextmanager
def little_memory(limit_bytes: int) -> Iterator[list[str]]:
    """Make a control group with so much memory; yield the words before a command that is to run in it."""
    version_1 = _MEMORY_VERSION_1.is_dir()
    group = (_MEMORY_VERSION_1 if version_1 else _VERSION_2) / f"scalewise-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if version_1 else "memory.max")).write_text(str(limit_bytes))
    except OSError as error:
        pytest.skip(f"no control group with a limit on memory can be made here: {error}")
    try:
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    finally:
        group.rmdir()


@contextlib.contextmanager
def slow_network(rate: str) -> Iterator[tuple[list[str], list[str]]]:
    """Make two network namespaces with a slow cable between them; yield the words before a command in each.

    The first has the address 10.77.0.1, and both call their end of the cable `cable`.
    """
    names = [f"scalewise-test-{end}-{os.getpid()}" for end in "ab"]
    if shutil.which("ip") is None or shutil.which("tc") is None:
        pytest.skip("iproute2 is not installed")
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("-n", names[0], "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", names[1])
        for number, name in enumerate(names, start=1):
            _ip("-n", name, "address", "add", f"10.77.0.{number}/24", "dev", "cable")
            _ip("-n", name, "link", "set", "cable", "up")
            _ip("-n", name, "link", "set", "lo", "up")
            shape = ["tc", "qdisc", "add", "dev", "cable", "root", "tbf", "rate", rate, "burst", "64kb"]
            _run("ip", "netns", "exec", name, *shape, "latency", "50ms")
    except subprocess.CalledProcessError as error:
        _remove(names)
        pytest.skip(f"no network namespaces can be made here: {error.stderr}")
    try:
        yield ["ip", "netns", "exec", names[0]], ["ip", "netns", "exec", names[1]]
    finally:
        _remove(names)


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


def _remove(names: list[str]) -> None:
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True)
