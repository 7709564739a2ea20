"""Trains runs by the code of one tree: whichever `scalewise` its environment leads to.

It reads the runs from a file and writes a line for each as it ends, in their order. A new Python needs seconds
to import torch, so every command is forked from one process that has it imported; it is a process of its own all the
same, and what it starts, such as the workers of `--workers 2`, starts in the real way.
"""

import json
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import scalewise

_PATIENCE_SECONDS = 120
_context = multiprocessing.get_context("forkserver")
# Modules that a tree does not have are passed over: then its commands take longer.
_context.set_forkserver_preload(["scalewise.cli", "scalewise.run.train", "scalewise.study.study", "torch._dynamo"])


def main() -> None:
    tree, plan, jobs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    found = Path(scalewise.__file__)
    if not found.is_relative_to(tree):
        raise SystemExit(f"{found} is not the scalewise of {tree}: something comes before PYTHONPATH")
    with ThreadPoolExecutor(jobs) as pool:
        for ended in pool.map(_train, json.loads(plan.read_text())):
            print(json.dumps(ended), flush=True)


def _train(run: Mapping[str, Any]) -> dict[str, Any]:
    """Run the commands of a run one after the other, as long as each ends as it should."""
    log = Path(run["log"])
    log.touch()
    for command in run["commands"]:
        exit_code = _exit_code(command["arguments"], command["environment"], log)
        if exit_code not in command["expected"]:
            return {"exit_code": exit_code, "expected": False, "output": log.read_text()}
    return {"exit_code": exit_code, "expected": True, "output": log.read_text()}


def _exit_code(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> int:
    process = _context.Process(target=_work, args=(arguments, environment, log))
    process.start()
    process.join(_PATIENCE_SECONDS)
    if process.exitcode is None:
        process.kill()  # its workers watch it, and end with it
        process.join()
        with log.open("a") as stream:
            stream.write(f"killed after {_PATIENCE_SECONDS} seconds without an end\n")
    assert process.exitcode is not None
    return process.exitcode


def _work(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    """Be the command line."""
    os.environ.update(environment)
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    sys.argv = ["scalewise", *arguments]
    # The command line would call a workload that does not import a user's mistake, as it does a new setting.
    import same_model_workloads  # noqa: F401
    from scalewise.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
