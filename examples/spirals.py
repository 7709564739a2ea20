"""Your own workload: a network that separates two spirals. Train it: `scalewise train examples/spirals.py:Spirals`."""

import math

import torch
from torch import Tensor, nn

import scalewise as sw


class Spirals(sw.Classification):
    """Points on two spirals, with a little noise."""

    defaults = {
        "recipe": {"global_batch": 64, "learning_rate": 0.1},
        "stop": {"target": "val/classification_error<0.02", "epochs": 200},
    }

    def data(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Make the points; the same ones every time."""
        generator = torch.Generator().manual_seed(0)
        labels = torch.arange(2000) % 2
        angle = 3 * math.pi * torch.rand(2000, generator=generator).sqrt()
        turn = angle + math.pi * labels
        points = torch.stack([angle * turn.cos(), angle * turn.sin()], dim=1) / 5
        points += 0.03 * torch.randn(2000, 2, generator=generator)
        return {"train": (points[:1500], labels[:1500]), "val": (points[1500:], labels[1500:])}

    def model(self) -> nn.Module:
        """Make a small network."""
        return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
