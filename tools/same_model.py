"""Trains the same small runs by the code of two revisions on this machine: all models must have the same bits.

The base is checked out into a temporary folder; the working tree is taken as it is. Both train the cases of
`same_model_cases.py` with the same Python, packages, processor and workloads, and with `--exact`: a model that differs
does so because of the code.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from checkout import ROOT, checkout, described, environment_of, scratch_folder
from same_model_cases import CASES, Run, runs_of
from same_model_outcomes import Outcome, first_difference

_DRIVER = Path(__file__).with_name("same_model_driver.py")
_MISTAKE = 2
"""The exit code of a command that asks for something there is not."""
_PREFIX = 10


@dataclass
class Tree:
    """One revision's code, and a folder for what it trains."""

    code: Path
    out: Path
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def folder(self, run: Run) -> Path:
        """Where a run of this tree goes."""
        return self.out / re.sub(r"\W+", "_", run.name)

    @contextlib.contextmanager
    def training(self, runs: Sequence[Run]) -> Iterator[Iterator["Ended"]]:
        """Train runs in the background; how each of them ended comes in their order."""
        self.out.mkdir()
        plan = self.out / "plan.json"
        plan.write_text(json.dumps([self._plan(run) for run in runs]))
        jobs = max(1, (os.cpu_count() or 1) // 2)  # the other half is the other tree's
        driver = subprocess.Popen(
            [sys.executable, _DRIVER, self.code, plan, str(jobs)],
            env=self._environment(),
            cwd=self.out,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that all of it can be ended
        )
        try:
            yield (self._ended(driver) for _ in runs)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()

    def _ended(self, driver: subprocess.Popen[str]) -> "Ended":
        assert driver.stdout is not None
        line = driver.stdout.readline()
        if not line:
            raise SystemExit(f"the driver of {self.code} ended before all runs were trained")
        return Ended(**json.loads(line))

    def _plan(self, run: Run) -> dict[str, Any]:
        folder = self.folder(run)
        return {"commands": run.commands(folder), "log": str(folder.with_suffix(".log"))}

    def _environment(self) -> dict[str, str]:
        return {
            **environment_of(self.code),
            "SAME_MODEL_FOLDER": str(self.out),
            "CUDA_VISIBLE_DEVICES": "",  # equal bits on any number of workers are promised for processors
            "OMP_WAIT_POLICY": "PASSIVE",  # waiting threads leave the cores to the other tree
            "GOMP_SPINCOUNT": "0",
        }


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    exit_code: int
    expected: bool
    output: str


@dataclass(frozen=True)
class Verdict:
    """What a run of both trees shows."""

    result: Literal["same", "DIFFERENT", "new", "FAILED"]
    sha256: str = ""
    remarks: Sequence[str] = ()


def main(
    base: Annotated[
        str | None, typer.Option(help="by default where this branch left origin/main, else the commit before the last")
    ] = None,
    only: Annotated[str | None, typer.Option(help="the name of one case")] = None,
) -> None:
    """Train every case at the base and in the working tree, and say where they differ."""
    if only is not None and only not in CASES:
        raise typer.BadParameter(f"there is no case {only!r}; there are {'; '.join(CASES)}")
    runs = runs_of(CASES if only is None else [only])
    with scratch_folder("same-model") as folder, checkout(base, folder / "code") as code:
        before, after = Tree(code, folder / "base"), Tree(ROOT, folder / "tree")
        print(f"base {described(code)}, working tree {described(ROOT)}: {len(runs)} runs of each")
        results = [verdict.result for verdict in _verdicts(runs, before, after)]
    count = Counter(results)
    others = "".join(f", {count[result]} {result.lower()}" for result in ("new", "FAILED") if count[result])
    print(f"{count['same']} models equal, {count['DIFFERENT']} different{others}")
    nothing_proven = only is None and not count["same"]  # a base that refuses everything
    raise typer.Exit(1 if count["DIFFERENT"] or count["FAILED"] or nothing_proven else 0)


def _verdicts(runs: Sequence[Run], before: Tree, after: Tree) -> Iterator[Verdict]:
    """Judge each run as soon as both trees have it, and print a line for it."""
    with before.training(runs) as base_ends, after.training(runs) as tree_ends:
        for run, base_end, tree_end in zip(runs, base_ends, tree_ends, strict=True):
            verdict = _verdict(run, before, after, base_end, tree_end)
            print(f"{run.name:38} {verdict.result:9} {verdict.sha256}", flush=True)
            for remark in verdict.remarks:
                print(textwrap.indent(remark, "    "), flush=True)
            yield verdict


def _verdict(run: Run, before: Tree, after: Tree, base_end: Ended, tree_end: Ended) -> Verdict:
    new = not base_end.expected and base_end.exit_code == _MISTAKE
    for name, end in (("working tree", tree_end), *([] if new else [("base", base_end)])):
        if not end.expected:
            return Verdict("FAILED", remarks=[f"the {name} ended with code {end.exit_code}:", end.output.strip()])
    mine = after.outcomes[run.name] = run.outcome(after.folder(run))
    unlike = _differences(after.outcomes.get(run.like or ""), mine, f"to {run.like}")
    if new:
        remarks = [f"the base says: {_last_line(base_end.output)}", *unlike]
        return Verdict("DIFFERENT" if unlike else "new", mine.digest()[:_PREFIX], remarks)
    base = run.outcome(before.folder(run))
    digests = dict.fromkeys(outcome.digest()[:_PREFIX] for outcome in (base, mine.as_far_as(base)))
    remarks = [*_differences(base, mine, "to the base"), *unlike]
    return Verdict("DIFFERENT" if remarks else "same", " -> ".join(digests), remarks)


def _differences(base: Outcome | None, mine: Outcome, to_what: str) -> list[str]:
    found = None if base is None else first_difference(base, mine)
    return [] if found is None else [f"{to_what}: {found}"]


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


if __name__ == "__main__":
    typer.run(main)
