"""Keeps the times of training, evaluation and checkpoints apart: only the first counts as training."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds spent so far, over all starts of a run."""

    training_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    checkpoint_seconds: float = 0.0

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Count the time inside the `with` block as evaluation."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.evaluation_seconds += time.perf_counter() - start
