"""A regression: numbers as targets. Run it with `scalewise train examples/regression.py:Waves`."""

import torch
from torch import Tensor, nn

import scalewise as sw


class Waves(sw.Workload):
    """The height of a wave at a point."""

    defaults = {
        "recipe": {"global_batch": 64, "optimizer": "adamw", "learning_rate": 0.01},
        "stop": {"target": "val/mean_squared_error<0.02", "epochs": 60},
    }
    measures = (sw.Metric("mean_squared_error", unit="m²"),)

    def data(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Make the points; the same ones every time."""
        points = 2 * torch.rand(1500, 2, generator=torch.Generator().manual_seed(0)) - 1
        heights = (3 * points[:, :1]).sin() * (2 * points[:, 1:]).cos()
        return {"train": (points[:1200], heights[:1200]), "val": (points[1200:], heights[1200:])}

    def model(self) -> nn.Module:
        """Make a small network."""
        return nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1))

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the squared error of each point."""
        return (outputs - targets).square().mean(dim=1)

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """Return the squared error of each point."""
        return {"mean_squared_error": self.loss(outputs, targets)}
