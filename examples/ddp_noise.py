"""The gradient noise scale in a plain DistributedDataParallel loop.

Run it with `torchrun --nproc-per-node 2 examples/ddp_noise.py`.
Three lines belong to scalewise: the meter, `watch` and `end_step`. Everything else is any training script.
"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

import scalewise as sw

STEPS, MICROBATCH = 60, 32


def points() -> tuple[Tensor, Tensor]:
    """Return points in a plane, and whether they are inside a circle."""
    inputs = torch.randn(2048, 2, generator=torch.Generator().manual_seed(0))
    return inputs, (inputs.norm(dim=1) < 1.2).long()


def network() -> nn.Module:
    """Return a small network, the same in every process."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))


def microbatch(step: int, index: int, microbatches: int) -> slice:
    """Say which examples are one microbatch of a step."""
    first = (step * microbatches + index) * MICROBATCH % 2048
    return slice(first, first + MICROBATCH)


def main() -> None:
    """Train, and print the noise scale of the last half of the steps."""
    dist.init_process_group("gloo")
    rank, processes = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(network())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, targets = points()

    meter = sw.NoiseMeter(microbatch=MICROBATCH)
    meter.watch(model)

    for step in range(STEPS):
        chosen = microbatch(step, rank, processes)
        optimizer.zero_grad()
        F.cross_entropy(model(inputs[chosen]), targets[chosen]).backward()
        meter.end_step()
        optimizer.step()
        if step == STEPS // 2 - 1:
            meter.clear()  # the noise scale of the first steps is another one

    if rank == 0:
        found = meter.noise_scale
        print(f"noise scale {found.value} from {found.low} to {found.high}, over {found.steps} steps", flush=True)
    dist.destroy_process_group()
    os._exit(0)  # not by Python's own way out: some threads of gloo outlive it and then abort the process


if __name__ == "__main__":
    main()
