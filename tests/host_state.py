"""What the owner of a process would notice if training changed it."""

import os
import signal
import threading
import warnings
from pathlib import Path
from typing import Any

import torch

from scalewise.cluster.signals import STOP_SIGNALS


def state() -> dict[str, Any]:
    """Return what a host would notice."""
    return {
        "handlers": {number: signal.getsignal(number) for number in STOP_SIGNALS},
        "environment": dict(os.environ),
        "threads": torch.get_num_threads(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "warnings": list(warnings.filters),
        "random numbers": torch.get_rng_state().tolist(),
        "folder": Path.cwd(),
        "threads of Python": {thread.name for thread in threading.enumerate()},
    }
