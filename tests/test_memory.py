"""Memory that a step frees is there for the next one, without page faults."""

import subprocess
import sys

import pytest

_FAULTS_OF_A_LATER_ROUND = """
import resource
import torch
from scalewise.cluster.memory import keep_freed_memory

def allocate():
    return [torch.ones(size) for size in (100_000, 1_000_000, 7_000_000)]

keep_freed_memory()
for _ in range(20):  # free blocks of the right sizes come to be there
    allocate()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
allocate()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
_PAGES = 7_900  # of 4 kB, in one round


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_the_same_allocations_again_take_no_new_pages() -> None:
    ended = subprocess.run([sys.executable, "-c", _FAULTS_OF_A_LATER_ROUND], capture_output=True, text=True)
    assert int(ended.stdout) < _PAGES / 100, ended.stderr
