"""A workload whose training points are shifted: as microbatches, one by one, and as they are read from a data set."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from scalewise.data.draws import uniform
from scalewise.workloads import Classification

POINTS = torch.linspace(-1, 1, 20)[:, None].repeat(1, 3)
LABELS = (POINTS[:, 0] > 0).long()


class Shifted(Classification):
    defaults = {"recipe": {"global_batch": 10, "learning_rate": 0.1}, "stop": {"steps": 10}}

    def data(self) -> Mapping[str, Any]:
        return {"train": (POINTS, LABELS), "val": (POINTS, LABELS)}

    def model(self) -> nn.Module:
        return nn.Linear(3, 2)


class InMicrobatches(Shifted):
    def transform(self, inputs: Tensor, targets: Tensor, seeds: Tensor) -> tuple[Tensor, Tensor]:
        return inputs + uniform(seeds, 0).float()[:, None], targets


class InReaders(Shifted):
    def transform_example(self, example: Any, seed: int) -> Any:
        point, label = example
        return point + uniform(torch.tensor([seed]), 0).float(), label


class OnDisk(InReaders):
    def data(self) -> Mapping[str, Any]:
        return {name: Rows() for name in ("train", "val")}


class Rows:
    def __len__(self) -> int:
        return len(POINTS)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return POINTS[index], LABELS[index]
