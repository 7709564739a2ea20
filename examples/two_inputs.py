"""A network with two inputs and two targets. Run it with `scalewise train examples/two_inputs.py:Pairs`."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import scalewise as sw


class Compared(nn.Module):
    """Looks at two points: which is further out, and how far are they apart?"""

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32))
        self.further, self.distance = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, left: Tensor, right: Tensor) -> dict[str, Tensor]:
        """Return the two answers."""
        both = torch.cat([self.look(left), self.look(right)], dim=1).relu()
        return {"further": self.further(both), "distance": self.distance(both).squeeze(1)}


class Pairs(sw.Workload):
    """Pairs of points: a tuple goes into the network as several arguments."""

    defaults = {
        "recipe": {"global_batch": 64, "learning_rate": 0.05},
        "stop": {"target": "val/further_error<0.05", "epochs": 40},
    }
    measures = (sw.Metric("further_error", complement="accuracy"), sw.Metric("distance_error", unit="m"))

    def data(self) -> dict[str, tuple[tuple[Tensor, Tensor], dict[str, Tensor]]]:
        """Make the points; the same ones every time."""
        left, right = torch.randn(2, 1200, 2, generator=torch.Generator().manual_seed(0))
        further = (left.norm(dim=1) < right.norm(dim=1)).long()
        targets = {"further": further, "distance": (left - right).norm(dim=1)}
        cuts = {"train": slice(1000), "val": slice(1000, None)}
        return {
            name: ((left[cut], right[cut]), {key: values[cut] for key, values in targets.items()})
            for name, cut in cuts.items()
        }

    def model(self) -> nn.Module:
        """Make the network."""
        return Compared()

    def loss(self, outputs: dict[str, Tensor], targets: dict[str, Tensor]) -> Tensor:
        """Return what both answers lack."""
        further = F.cross_entropy(outputs["further"], targets["further"], reduction="none")
        return further + (outputs["distance"] - targets["distance"]).square()

    def metrics(self, outputs: dict[str, Tensor], targets: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the mistakes of both answers."""
        return {
            "further_error": outputs["further"].argmax(dim=1) != targets["further"],
            "distance_error": (outputs["distance"] - targets["distance"]).abs(),
        }
