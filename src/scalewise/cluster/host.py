"""Restores the process that trains, which may be a notebook, a server or somebody's tests."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def host_kept() -> Iterator[None]:
    """Restore, after a `with` block, what training has to change in its process, even if it fails."""
    environment, random_state = dict(os.environ), torch.get_rng_state()
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    try:
        with warnings.catch_warnings():  # libraries that are imported on the way add filters of their own
            yield
    finally:
        torch.set_rng_state(random_state)
        torch.set_num_threads(threads)
        if torch.are_deterministic_algorithms_enabled() != deterministic:
            torch.use_deterministic_algorithms(deterministic)
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
