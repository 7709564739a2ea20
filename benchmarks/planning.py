"""Times a plan of ten thousand candidates, as a user waits for it."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from results import write_results
from rounds import spread, take_turns
from scalewise.plan.plan import plan
from scalewise.requests import PlanRequest, arguments
from tables import planning_table, render_readme

_BATCHES, _RATES, _NODES = range(1000, 1500), (0.1, 0.2), 10


def main(rounds: Annotated[int, typer.Option(min=1, help="how often everything is measured")] = 15) -> None:
    """Plan in turns by the command and inside this process; write the result file and the table."""
    with tempfile.TemporaryDirectory() as folder:
        request = planning_request(Path(folder))
        candidates = len(plan(request).candidates)
        seconds = take_turns({"command": lambda: _command(request), "plan": lambda: _plan(request)}, rounds)
    row: dict[str, Any] = {"candidates": candidates}
    for name, values in seconds.items():
        row |= {f"{name}_seconds": round(median(values), 3), f"{name}_range": [round(end, 3) for end in spread(values)]}
    write_results("planning", {"rounds": rounds, "rows": [row]})
    render_readme()
    print(planning_table([row]))


def planning_request(folder: Path) -> PlanRequest:
    """Write steps of many batch sizes and rates, a few measured speeds, and a cluster of up to ten nodes."""
    steps, speeds, clusters = (folder / name for name in ("steps.csv", "throughput.csv", "clusters.yaml"))
    runs = [f"{batch},{100 * (1 + 4096 / batch):.1f},1,{rate}" for batch in _BATCHES for rate in _RATES]
    steps.write_text("\n".join(["global_batch,steps,reached,learning_rate", *runs, ""]))
    points = [f"c,{workers},{workers * part},{0.01 + 0.001 * part},1" for workers in (1, 2, 4) for part in (64, 512)]
    speeds.write_text("\n".join(["cluster,workers,global_batch,step_seconds,workers_per_node", *points, ""]))
    clusters.write_text(f"- {{name: c, nodes: 1..{_NODES}, price_per_hour: 1}}\n")
    return PlanRequest(clusters=clusters, steps=steps, throughput=speeds, out=folder / "plan")


def _command(request: PlanRequest) -> float:
    os.sync()  # nobody waits for what others are still writing
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "scalewise", *arguments(request)], check=True, capture_output=True)
    return time.perf_counter() - started


def _plan(request: PlanRequest) -> float:
    os.sync()
    started = time.perf_counter()
    plan(request)
    return time.perf_counter() - started


if __name__ == "__main__":
    typer.run(main)
