"""Several labels per example, and average precision. Run it with `scalewise train examples/multi_label.py:Labels`."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import scalewise as sw


def average_precision(scores: Tensor, labels: Tensor) -> float:
    """Return the mean over labels of the mean precision at each example that has the label, best scores first."""
    found = labels.gather(0, scores.argsort(dim=0, descending=True, stable=True)).double()
    precision = found.cumsum(dim=0) / torch.arange(1, len(found) + 1)[:, None]
    return float(((precision * found).sum(dim=0) / found.sum(dim=0).clamp(min=1)).mean())


class Labels(sw.Workload):
    """Points that lie in any number of six overlapping discs."""

    defaults = {
        "recipe": {"global_batch": 64, "optimizer": "adamw", "learning_rate": 0.01},
        "stop": {"target": "val/average_precision>0.9", "epochs": 60},
    }
    # It is no mean over examples: it needs the scores of all of them at once.
    measures = (sw.Metric("average_precision", lower_is_better=False, of_all=average_precision),)

    def data(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Make the points; the same ones every time."""
        random = torch.Generator().manual_seed(0)
        points, centres = torch.randn(1500, 2, generator=random), torch.randn(6, 2, generator=random)
        labels = (torch.cdist(points, centres) < 1).float()
        return {"train": (points[:1200], labels[:1200]), "val": (points[1200:], labels[1200:])}

    def model(self) -> nn.Module:
        """Make a small network."""
        return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 6))

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean over labels of each example."""
        return F.binary_cross_entropy_with_logits(outputs, targets, reduction="none").mean(dim=1)

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor | tuple[Tensor, Tensor]]:
        """Return what average precision is made of, and a loss per example."""
        return {"average_precision": (outputs, targets), "cross_entropy": self.loss(outputs, targets)}
