"""Measures the network: how long the workers take to add up messages of different sizes."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from scalewise.cluster.collectives import gather_values, sum_over_workers, wait_for_all

_SMALLEST_BYTES = 1_000
_ROUNDS = 15


@dataclass(frozen=True)
class Message:
    """An all-reduce of one size."""

    size_bytes: int
    seconds: float


@dataclass(frozen=True)
class Network:
    """Messages of growing sizes, and the line through them."""

    messages: list[Message]
    latency_seconds: float
    bytes_per_second: float | None
    """None where the messages were too small for their size to matter."""

    def __str__(self) -> str:
        speed = "" if self.bytes_per_second is None else f", {self.bytes_per_second / 1e6:,.0f} MB/s"
        largest = self.messages[-1]
        whole = f"{largest.size_bytes:,} bytes, a step's sum, take {1000 * largest.seconds:.2f} ms"
        return f"all-reduce latency {1000 * self.latency_seconds:.2f} ms{speed}; {whole} by messages"


def measure_network(largest_bytes: int, device: torch.device) -> Network:
    """Add up messages from a kilobyte to the size of the model's gradients, four times larger each time."""
    sizes = [_SMALLEST_BYTES]
    while sizes[-1] * 4 < largest_bytes:
        sizes.append(sizes[-1] * 4)
    messages = [_measure(size, device) for size in [*sizes, max(largest_bytes, _SMALLEST_BYTES)]]
    latency, speed = fit(messages)
    return Network(messages, latency, speed)


def _measure(size_bytes: int, device: torch.device) -> Message:
    message = torch.zeros(size_bytes // 4, device=device)
    samples = []
    for _ in range(_ROUNDS):
        wait_for_all()
        started = time.perf_counter()
        sum_over_workers(message)
        if device.type == "cuda":
            torch.cuda.synchronize()
        samples.append(time.perf_counter() - started)
    return Message(size_bytes, max(gather_values(median(samples))))


def fit(messages: Sequence[Message]) -> tuple[float, float | None]:
    """Fit seconds = latency + bytes / speed, each message weighing by its relative error.

    >>> latency, speed = fit([Message(size, 0.001 + size / 1e9) for size in (1000, 10**6, 10**8)])
    >>> round(latency, 6), round(speed / 1e9, 6)
    (0.001, 1.0)
    """
    sizes = np.array([message.size_bytes for message in messages], dtype=float)
    seconds = np.array([message.seconds for message in messages])
    matrix = np.stack([1 / seconds, sizes / seconds], axis=1)
    latency, seconds_per_byte = np.linalg.lstsq(matrix, np.ones(len(messages)), rcond=None)[0]
    return float(max(latency, 0.0)), float(1 / seconds_per_byte) if seconds_per_byte > 0 else None
