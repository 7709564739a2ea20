"""Reads what a bench left behind: its points, and what it measured of the network."""

import json
from pathlib import Path
from typing import Any

from scalewise.analysis.speed import NetworkFigures
from scalewise.bench.throughput import Throughput, read_throughput
from scalewise.errors import DataError
from scalewise.plan.speeds import Network


def read_bench(folder: Path) -> tuple[list[Throughput], Network | None]:
    """Read the points of a bench, and its network where several workers were measured."""
    points = read_throughput(folder / "throughput.csv")
    file = folder / "bench.json"
    try:
        networks = json.loads(file.read_text(encoding="utf-8"))["network"]
        return points, _network(points, max(networks, key=lambda one: int(one["workers"]))) if networks else None
    except OSError:
        return points, None  # a throughput.csv alone will do
    except (ValueError, KeyError, TypeError, IndexError):
        raise DataError(f"{file} is damaged; measure again, or plan with --throughput") from None


def _network(points: list[Throughput], measured: dict[str, Any]) -> Network:
    """Take the all-reduce between the most workers: its smallest message is latency, the rest is transfer."""
    workers, largest = int(measured["workers"]), measured["messages"][-1]
    per_node = next(point.workers_per_node for point in points if point.workers == workers) or 1
    latency = float(measured["latency_seconds"])
    figures = NetworkFigures(
        between_nodes=workers > per_node,
        latency_seconds=latency,
        transfer_seconds=float(largest["seconds"]) - latency,
        workers=workers if workers <= per_node else -(-workers // per_node),
    )
    return Network(figures, int(largest["size_bytes"]))
