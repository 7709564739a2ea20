"""Memory that a step frees is there for the next one, without page faults."""

import subprocess
import sys

import pytest

_FAULTS_OF_A_STEP = """
import resource, statistics, sys
import torch
from scalewise.cluster.machine_memory import keep_freed_memory
from scalewise.models.simple_cnn import simple_cnn

if sys.argv[1] == "keep":
    keep_freed_memory()
torch.set_num_threads(1)
model, images = simple_cnn((1, 28, 28), 10, "base"), torch.randn(128, 1, 28, 28)

def step():
    torch.autograd.grad(model(images).sum(), list(model.parameters()))

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    step()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for _ in range(3):
    step()
print(statistics.median_low(faults() for _ in range(5)))  # now and then a block is broken up
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc")
def test_a_step_takes_no_new_pages() -> None:
    assert faults_of_a_step("keep") < 200
    assert faults_of_a_step("default") > 2000  # or there would be nothing to keep


def faults_of_a_step(memory: str) -> int:
    ended = subprocess.run([sys.executable, "-c", _FAULTS_OF_A_STEP, memory], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)
