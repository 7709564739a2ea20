"""How long a step takes: compute, synchronisation inside a node and between nodes, and how far they overlap.

    compute = fixed * passes + per_example * examples per worker
    synchronisation = latency * log2(workers) + transfer * 2 (workers - 1) / workers, inside a node and between nodes
    step = (compute^overlap + synchronisation^overlap)^(1 / overlap)

An overlap of 1 adds the two up; with 10 the longer one hides the shorter (Pollux, OSDI 2021). There is one pass through
the network, or several where a worker's memory cannot hold its examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PARAMETERS = (
    "fixed_seconds",
    "seconds_per_example",
    "latency_inside_node",
    "transfer_inside_node",
    "latency_between_nodes",
    "transfer_between_nodes",
    "overlap",
)


@dataclass(frozen=True)
class Place:
    """Where a step is taken: on how many workers of how many nodes, with how many examples each."""

    workers: int
    nodes: int
    examples_per_worker: float
    passes: int = 1

    @classmethod
    def of(cls, workers: int, global_batch: float, workers_per_node: int | None) -> "Place":
        """Fill nodes one after the other; if the size of a node is unknown, every worker is one.

        >>> Place.of(16, 512, workers_per_node=4)
        Place(workers=16, nodes=4, examples_per_worker=32.0, passes=1)
        """
        nodes = workers if workers_per_node is None else -(-workers // workers_per_node)
        return cls(workers, nodes, global_batch / workers)


def log_step_seconds(values: Floats, places: Sequence[Place]) -> Floats:
    """Return the logarithm of a step's time at every place (a row each) for every set of parameters (a column each).

    >>> values = np.array([[0.1, 0.01, 0.0, 0.0, 0.02, 0.0, 1.0]])
    >>> np.exp(log_step_seconds(values, [Place(1, 1, 10), Place(4, 4, 10)])).round(6).tolist()
    [[0.2], [0.24]]
    """
    fixed, per_example, *costs, overlap = np.ascontiguousarray(values.T)
    examples = np.array([[place.examples_per_worker] for place in places])
    passes = np.array([[place.passes] for place in places])
    compute = overlap * np.log(fixed * passes + per_example * examples)
    shapes = list(dict.fromkeys((place.workers, place.nodes) for place in places))  # of many places they are few
    with np.errstate(divide="ignore"):  # a worker alone does not synchronise
        synchronisation = overlap * np.log(_synchronisation_seconds(costs, shapes))
    rows = [shapes.index((place.workers, place.nodes)) for place in places]
    result: Floats = np.logaddexp(compute, synchronisation[rows]) / overlap
    return result


def _synchronisation_seconds(costs: Sequence[Floats], shapes: Sequence[tuple[int, int]]) -> Floats:
    """Return the time that workers on some nodes, a row each, need to agree, without what overlap hides."""
    latency_inside, transfer_inside, latency_between, transfer_between = costs
    workers, nodes = np.array(shapes, float).T[..., None]
    inside = workers / nodes
    result: Floats = (
        latency_inside * np.log2(inside)
        + transfer_inside * 2 * (inside - 1) / inside
        + latency_between * np.log2(nodes)
        + transfer_between * 2 * (nodes - 1) / nodes
    )
    return result
