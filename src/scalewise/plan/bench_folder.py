"""Reads the results of a bench: its points, and its measurement of the network."""

from collections.abc import Sequence
from pathlib import Path

from scalewise.analysis.speed import NetworkFigures
from scalewise.errors import DataError, FolderError
from scalewise.plan.speeds import Network
from scalewise.record.results.bench import BenchFile, NetworkSpeed
from scalewise.record.throughput import Throughput, throughput_in


def read_bench(folder: Path) -> tuple[list[Throughput], Network | None]:
    """Read the points of a bench, and its network if several workers were measured."""
    points = throughput_in(folder)
    if not BenchFile.is_in(folder):
        return points, None  # the points alone will do
    try:
        networks = BenchFile.read(folder).network
    except FolderError as error:
        raise DataError(f"{error}; measure again, or plan with --throughput") from None
    return points, _network(points, max(networks, key=lambda network: network.workers)) if networks else None


def _network(points: Sequence[Throughput], measured: NetworkSpeed) -> Network:
    """Take the all-reduce between the most workers: its smallest message is latency, the rest is transfer."""
    workers, largest = measured.workers, measured.messages[-1]
    per_node = next((point.workers_per_node for point in points if point.workers == workers), None) or 1
    figures = NetworkFigures(
        between_nodes=workers > per_node,
        latency_seconds=measured.latency_seconds,
        transfer_seconds=largest.seconds - measured.latency_seconds,
        workers=workers if workers <= per_node else -(-workers // per_node),
    )
    return Network(figures, largest.size_bytes)
