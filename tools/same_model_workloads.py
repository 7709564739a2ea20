"""Small workloads for `same_model.py`: images made from a seed, and a network for each thing that a recipe can touch.

Both revisions train this very file, so it uses only what a user's own workload may use. Where a change renames any of
that, the two names are told apart in the import below and nowhere else.
"""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from scalewise.workloads import Classification, Workload

CLASSES, TRAIN_EXAMPLES, VAL_EXAMPLES = 5, 400, 120


def images() -> dict[str, tuple[Tensor, Tensor]]:
    """Make noisy images of one pattern per class; the same ones every time."""
    # A generator of its own: torch's global one belongs to the training.
    draw = np.random.default_rng(0)
    count = TRAIN_EXAMPLES + VAL_EXAMPLES
    labels = np.arange(count) % CLASSES
    patterns = draw.standard_normal((CLASSES, 3, 8, 8))
    pixels = (0.25 * patterns[labels] + draw.standard_normal((count, 3, 8, 8))).astype(np.float32)
    inputs, targets = torch.from_numpy(pixels), torch.from_numpy(labels)
    return {
        "train": (inputs[:TRAIN_EXAMPLES], targets[:TRAIN_EXAMPLES]),
        "val": (inputs[TRAIN_EXAMPLES:], targets[TRAIN_EXAMPLES:]),
    }


class Dropout(Classification):
    """Convolutions and dropout; the workload that the others differ from."""

    # Five microbatches, the last of them smaller: no number of workers shares them out evenly.
    defaults = {
        "recipe": {"global_batch": 36, "microbatch": 8, "learning_rate": 0.05},
        "stop": {"steps": 20},
        "evaluate": {"every_steps": 8, "batch": 50},
    }

    def data(self) -> Mapping[str, Any]:
        return images()

    def model(self) -> nn.Module:
        return stopping(self.network())

    def network(self) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, CLASSES)
        )


class Dense(Dropout):
    """No randomness but that of the order."""

    def network(self) -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(192, 16), nn.ReLU(), nn.Linear(16, CLASSES))


class BatchNorm(Dropout):
    """Batch normalisation of channels and of features."""

    def network(self) -> nn.Module:
        convolution = (nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
        return nn.Sequential(*convolution, nn.Linear(256, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, CLASSES))


class NormAct(Dropout):
    """Batch normalisation with a forward of its own, in two places."""

    def network(self) -> nn.Module:
        shared = WithActivation(16)
        dense = (nn.Flatten(), nn.Linear(192, 16), shared, nn.Linear(16, 16), shared)
        return nn.Sequential(*dense, nn.Linear(16, CLASSES))


class WithActivation(nn.BatchNorm1d):
    """Holds its activation and its dropout."""

    def forward(self, inputs: Tensor) -> Tensor:
        return nn.functional.dropout(super().forward(inputs).relu(), 0.2, self.training)


class AnySize(Dropout):
    """A residual network for images of any size."""

    def network(self) -> nn.Module:
        pooled = (nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(24, CLASSES))
        return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), Residual(6), nn.ReLU(), *pooled)


class Residual(nn.Module):
    """A branch beside nothing, whose last normalisation has the name that scalewise looks for."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.branch_end = nn.BatchNorm2d(channels)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs + cast(Tensor, self.branch_end(self.convolution(inputs)))


class Stored(Dropout):
    """The same images, read from the disk one by one."""

    def data(self) -> Mapping[str, Any]:
        folder = Path(os.environ["SAME_MODEL_FOLDER"])
        return {name: OnDisk(folder / f"{name}.npy", *split) for name, split in images().items()}


class OnDisk(Dataset[tuple[Tensor, int]]):
    """Images in a file."""

    def __init__(self, file: Path, inputs: Tensor, targets: Tensor) -> None:
        self._file, self._targets = file, targets.tolist()
        partial = file.with_name(f"{os.getpid()}-{file.name}")
        np.save(partial, inputs.numpy())
        partial.replace(file)  # in one moment, because other workers write the same file

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return torch.from_numpy(np.load(self._file, mmap_mode="r")[index].copy()), self._targets[index]


class Regression(Workload):
    """A loss and a metric of its own; gradients too large for fp16, before the loss scale has come down."""

    defaults = Dropout.defaults

    def data(self) -> Mapping[str, Any]:
        return {name: (inputs, 10.0 * targets) for name, (inputs, targets) in images().items()}

    def model(self) -> nn.Module:
        return stopping(nn.Sequential(nn.Flatten(), nn.Linear(192, 8), nn.Tanh(), nn.Linear(8, 1)))

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs[:, 0] - targets) ** 2

    def metrics(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"squared_error": self.loss(outputs, targets)}


class Weighed(Regression):
    """Examples that count for 1 to 5, and trees of inputs and targets."""

    def data(self) -> Mapping[str, Any]:
        return {
            name: ({"input": inputs}, {"heights": 10.0 * targets, "counts": 1.0 + targets})
            for name, (inputs, targets) in images().items()
        }

    def loss(self, outputs: Tensor, targets: Any) -> Any:
        return targets["counts"] * (outputs[:, 0] - targets["heights"]) ** 2, targets["counts"]


def stopping(network: nn.Module) -> nn.Module:
    """Let a network ask its own process to stop, in a command that is to be stopped."""
    if "SAME_MODEL_STOP_AFTER" in os.environ:
        network.register_forward_pre_hook(Stop(int(os.environ["SAME_MODEL_STOP_AFTER"])))
    return network


class Stop:
    """Sends the signal when so many microbatches have come: in the same step every time."""

    def __init__(self, microbatches: int) -> None:
        self._left = microbatches

    def __call__(self, network: nn.Module, inputs: object) -> None:
        if network.training:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGTERM)
