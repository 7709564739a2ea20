"""Measures the network: how long the workers take to add up messages of different sizes."""

import time
from collections.abc import Sequence
from statistics import median

import torch

from scalewise.cluster.collectives import gather_values, sum_over_workers, wait_for_all
from scalewise.record.results.bench import Message, NetworkSpeed

_SMALLEST_BYTES = 1_000
_ROUNDS = 15


def measure_network(workers: int, largest_bytes: int, device: torch.device) -> NetworkSpeed:
    """Add up messages from a kilobyte to the size of the model's gradients, four times larger each time."""
    sizes = [_SMALLEST_BYTES]
    while sizes[-1] * 4 < largest_bytes:
        sizes.append(sizes[-1] * 4)
    messages = tuple(_measure(size, device) for size in [*sizes, max(largest_bytes, _SMALLEST_BYTES)])
    latency, speed = latency_and_speed(messages)
    return NetworkSpeed(workers, messages, latency, speed)


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


def latency_and_speed(messages: Sequence[Message]) -> tuple[float, float | None]:
    """Take the latency from the smallest message and the speed from what the largest takes beyond it.

    A line through all of them would be wrong: many networks send messages up to some size at once.

    >>> latency, speed = latency_and_speed([Message(size, 0.001 + size / 1e9) for size in (1000, 10**6, 10**8)])
    >>> round(latency, 5), round(speed / 1e9, 6)
    (0.001, 1.0)
    """
    smallest, largest = messages[0], messages[-1]
    beyond = largest.seconds - smallest.seconds
    return smallest.seconds, (largest.size_bytes - smallest.size_bytes) / beyond if beyond > 0 else None
