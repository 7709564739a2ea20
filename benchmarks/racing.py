"""Runs studies with racing and without: the answer must be the same, and the examples fewer."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from results import write_results
from scalewise.record.ledger import examples_trained
from tables import racing_table, render_readme

_STUDIES = {
    "digits/fc_64_64": "--batch-sizes 64,256 --target val/classification_error<0.06 --max-epochs 40",
    "mnist_subsets/mnist_6875/fc_64": "--batch-sizes 128,512 --target val/classification_error<0.1 --max-epochs 15",
}
_SEEDS = (0, 1)


def main(
    trials: Annotated[int, typer.Option(min=3, help="settings at each batch size")] = 40,
    quick: Annotated[
        bool, typer.Option("--quick", help="few trials: prints its table, leaves the results alone")
    ] = False,
) -> None:
    """Run every study twice for each seed, which decides what is tried and in which order; write the table."""
    rows = [_row(workload, seed, 4 if quick else trials) for workload in _STUDIES for seed in _SEEDS]
    print(racing_table(rows))
    if not quick:
        write_results("racing", {"trials": trials, "rows": rows})
        render_readme()


def _row(workload: str, seed: int, trials: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        raced, whole = (
            _study(workload, seed, trials, option, Path(folder) / option.strip("-"))
            for option in ("--race", "--no-race")
        )
    return {
        "workload": workload,
        "seed": seed,
        "steps_to_target": raced["answer"],
        "same_answer": raced["answer"] == whole["answer"],
        "examples_raced": raced["examples"],
        "examples_whole": whole["examples"],
        "times_fewer": round(whole["examples"] / raced["examples"], 2),
    }


def _study(workload: str, seed: int, trials: int, option: str, out: Path) -> dict[str, Any]:
    """Run a study; return the best trial of each batch size with its interval, and the examples of all trials."""
    words = f"study {workload} {_STUDIES[workload]} --trials {trials} --seed {seed} {option} --jobs 2".split()
    command = [sys.executable, "-m", "scalewise", *words, "--out", str(out), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(words)} ended with code {ended.returncode}:\n{ended.stderr}")
    keys = ("batch_size", "steps", "trial_id", "low", "high")
    content = json.loads(ended.stdout)
    found = [{key: row[key] for key in keys} for row in (*content["steps_to_target"], *content["not_reached"])]
    return {"answer": found, "examples": examples_trained(out)}


if __name__ == "__main__":
    typer.run(main)
