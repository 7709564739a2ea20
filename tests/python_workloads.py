"""Workloads for the tests of the Python API, as a user's module would have them."""

import threading
from typing import Any

import torch
from torch import Tensor, nn

import scalewise as sw

SHORT: dict[str, Any] = {"stop": {"steps": 6, "target": None, "epochs": None}}
"""A training of a few steps."""


class Circle(sw.Classification):
    """Tell points inside a circle from those outside."""

    defaults = {
        "recipe": {"global_batch": 64, "microbatch": 16, "learning_rate": 0.1},
        "stop": {"target": "val/classification_error<0.1", "epochs": 20},
    }

    def __init__(self, radius: float = 1.2) -> None:
        self.radius = radius

    def data(self) -> dict[str, tuple[Tensor, Tensor]]:
        points = torch.randn(640, 2, generator=torch.Generator().manual_seed(0))
        labels = (points.norm(dim=1) < self.radius).long()
        return {"train": (points[:512], labels[:512]), "val": (points[512:], labels[512:])}

    def model(self) -> nn.Module:
        return nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))


class Normalised(Circle):
    """The same with batch normalisation, and a weight that is used twice."""

    def model(self) -> nn.Module:
        inner = nn.Linear(16, 16)
        return nn.Sequential(nn.Linear(2, 16), nn.BatchNorm1d(16), nn.ReLU(), inner, nn.ReLU(), inner, nn.Linear(16, 2))


class Locked(Circle):
    """One that cannot be handed to another process."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Broken(Circle):
    """One with a bug that shows after a few steps."""

    def __init__(self) -> None:
        super().__init__()
        self.microbatches = 0

    def summed_loss(self, outputs: Any, targets: Any, label_smoothing: float) -> Tensor:
        self.microbatches += 1
        if self.microbatches > 9:
            raise ZeroDivisionError("the loss divides by zero")
        return super().summed_loss(outputs, targets, label_smoothing)


class Mistaken(Circle):
    """One that says itself what is wrong with it."""

    def model(self) -> Any:
        raise sw.UserError("this network needs a license")
