"""Starts scalewise in real processes: through its command line, or as a group of workers that a launcher would start.

A new Python needs seconds to import torch. The groups are forked from one process that has it imported already; they
are processes of their own all the same, and talk through gloo.
"""

import contextlib
import csv
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from safetensors.torch import load_file
from torch import Tensor

ROOT = Path(__file__).parent.parent
NETS = ROOT / "tests" / "workloads" / "nets.py"
PATIENCE_SECONDS = 120

T = TypeVar("T")

_forked = multiprocessing.get_context("forkserver")
_forked.set_forkserver_preload(["scalewise.cli", "scalewise.advise.advise", "torch._dynamo"])


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    exit_code: int
    output: str
    """What it wrote, standard output and standard error together."""


def start(
    *arguments: object, env: Mapping[str, str] | None = None, within: Sequence[str] = (), **options: Any
) -> subprocess.Popen[str]:
    """Start the real command line, maybe behind the words of a command that limits it."""
    command = [*within, sys.executable, "-m", "scalewise", *map(str, arguments)]
    merged = {**os.environ, **(env or {})}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, env=merged, **options
    )


def finish(process: subprocess.Popen[str]) -> Finished:
    """Wait for a command to end; it must end by itself."""
    try:
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Finished(process.returncode, output)


def scalewise(*arguments: object, env: Mapping[str, str] | None = None, within: Sequence[str] = ()) -> Finished:
    """Run the real command line to its end."""
    return finish(start(*arguments, env=env, within=within))


def group(workers: int, *arguments: object, env: Mapping[str, str] | None = None) -> Finished:
    """Run `scalewise ARGUMENTS` in each of some workers, as a launcher would; return the chief's exit code."""
    log, port = _log_file(), _port()
    members = [
        _forked.Process(target=_work, args=(rank, workers, port, list(map(str, arguments)), dict(env or {}), log))
        for rank in range(workers)
    ]
    for member in members:
        member.start()
    for member in members:
        member.join(PATIENCE_SECONDS)
        assert member.exitcode is not None, f"worker hangs: {log.read_text()}"
    output = log.read_text()
    log.unlink()
    return Finished(members[0].exitcode or 0, output)


def in_own_process(function: Callable[..., T], *arguments: object) -> T:
    """Call a function in a new process: what it does to torch ends with it."""
    with ProcessPoolExecutor(1, mp_context=_forked) as pool:
        return pool.submit(function, *arguments).result(PATIENCE_SECONDS)


def train(workers: int, workload: object, out: Path, *arguments: object, expect: int = 0) -> "Run":
    """Train on a group of workers and read the run folder."""
    ended = group(workers, "train", workload, "--out", out, *arguments)
    assert ended.exit_code == expect, ended.output
    return Run(out, ended.output)


@dataclass(frozen=True)
class Run:
    """A run folder, read back."""

    path: Path
    output: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.path / "metadata.json").read_text())
        return content

    @property
    def rows(self) -> list[dict[str, str]]:
        with (self.path / "measurements.csv").open() as stream:
            return list(csv.DictReader(stream))

    @property
    def weights(self) -> dict[str, Tensor]:
        return load_file(self.path / "model.safetensors")

    @property
    def bits(self) -> bytes:
        return (self.path / "model.safetensors").read_bytes()

    @property
    def checkpoints(self) -> list[int]:
        with contextlib.suppress(FileNotFoundError):
            return sorted(int(entry.name) for entry in (self.path / "checkpoints").iterdir() if entry.name.isdigit())
        return []


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that must happen, and fail when it does not."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited too long until {what}"
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """List the processes that a process has started."""
    with contextlib.suppress(FileNotFoundError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be collected does not."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _work(rank: int, workers: int, port: int, arguments: list[str], env: dict[str, str], log: Path) -> None:
    from scalewise.cli import main

    if workers > 1:
        place = {"RANK": rank, "WORLD_SIZE": workers, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": workers}
        os.environ.update({key: str(value) for key, value in place.items()})
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    os.environ.update(env)
    sys.path[:0] = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))  # as in a process that begins with it
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.chdir(ROOT)
    sys.argv = ["scalewise", *arguments]
    main()


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _log_file() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="scalewise-test-", suffix=".log")
    os.close(descriptor)
    return Path(name)
