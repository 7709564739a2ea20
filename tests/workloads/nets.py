"""Workloads for tests: networks whose layers look at more than one example, or that misbehave on purpose."""

import contextlib
import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from scalewise.data.images.digits import DIGITS
from scalewise.data.order import ExampleOrder
from scalewise.data.splits import Split
from scalewise.models.resnet import resnet_8
from scalewise.workloads import Classification, Workload


class Digits(Classification):
    """The digits, for networks that a test brings along."""

    defaults = {
        "recipe": {"global_batch": 80, "microbatch": 16, "learning_rate": 0.05},
        "stop": {"steps": 30},
        "evaluate": {"every_steps": 10, "batch": 50},
    }

    def data(self) -> Mapping[str, Split]:
        return DIGITS.load()

    def model(self) -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))


class BatchNorm(Digits):
    """Convolutions and a dense layer with batch normalisation."""

    def model(self) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(512, 32),
            nn.BatchNorm1d(32),
            nn.Dropout(0.2),
            nn.Linear(32, 10),
        )


class Dropout(Digits):
    """Convolutions and dropout."""

    def model(self) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, 4, 5, padding=2), nn.ReLU(), nn.Flatten(), nn.Dropout(0.4), nn.Linear(256, 10)
        )


class Mischievous(Workload):
    """Does something to its own process when it has computed so many losses or metrics, but only once.

    The environment says what: {"do": a signal's name or "raise", "rank", "count", "during": "loss", "once": FILE}.
    """

    def __init__(self) -> None:
        self._calls = {"loss": 0, "metrics": 0}
        self._plan = json.loads(os.environ.get("SCALEWISE_TEST_MISCHIEF", "null"))

    def summed_loss(self, outputs: Any, targets: Any, label_smoothing: float) -> Any:
        self._count("loss")
        return super().summed_loss(outputs, targets, label_smoothing)

    def metrics(self, outputs: Any, targets: Any) -> Mapping[str, Any]:
        self._count("metrics")
        return super().metrics(outputs, targets)  # type: ignore[safe-super]

    def _count(self, what: str) -> None:
        self._calls[what] += 1
        plan = self._plan
        if plan is None or plan["during"] != what or plan["count"] != self._calls[what]:
            return
        if str(plan["rank"]) != os.environ.get("RANK", "0") or Path(plan["once"]).exists():
            return
        Path(plan["once"]).touch()
        if plan["do"] == "raise":
            raise ZeroDivisionError("a bug in the user's loss")
        os.kill(os.getpid(), signal.Signals[plan["do"]])


class Mischief(Mischievous, Dropout):
    """A network that does."""


class Residual(Digits):
    """Residual blocks on images of any size."""

    def model(self) -> nn.Module:
        return resnet_8((1, 8, 8), 10)


class Overflow(torch.autograd.Function):
    """The identity, with a gradient that is not finite."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor) -> Tensor:
        return inputs.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * torch.inf


class Overflowing(Mischief):
    """Gradients that overflow in the steps that the environment names, on whoever has the step's first examples."""

    def __init__(self) -> None:
        super().__init__()
        batch = self.defaults["recipe"]["global_batch"]
        steps = [int(step) for step in os.environ["SCALEWISE_TEST_OVERFLOW"].split(",")]
        train = super().data()["train"]
        order = ExampleOrder(0, len(train))
        self._marked = {train.inputs[order.indices(step * batch, 1)[0]].numpy().tobytes() for step in steps}
        self._overflows = False

    def model(self) -> nn.Module:
        network = super().model()
        network.register_forward_pre_hook(self._look)
        return network

    def _look(self, network: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        self._overflows = network.training and inputs[0][0].numpy().tobytes() in self._marked

    def summed_loss(self, outputs: Tensor, targets: Tensor, label_smoothing: float) -> Tensor:
        loss = super().summed_loss(outputs, targets, label_smoothing)
        return cast(Tensor, Overflow.apply(loss)) if self._overflows else loss  # type: ignore[no-untyped-call]


class Slow(Dropout):
    """One worker that takes longer than the others."""

    def summed_loss(self, outputs: Tensor, targets: Tensor, label_smoothing: float) -> Tensor:
        if os.environ.get("RANK") == os.environ["SCALEWISE_TEST_SLOW_RANK"]:
            time.sleep(0.02)
        return super().summed_loss(outputs, targets, label_smoothing)


class PartlyUnused(Digits):
    """A network with a layer that nothing goes through."""

    def model(self) -> nn.Module:
        network = super().model()
        network.register_module("unused", Unused())
        return network


class Unused(nn.Linear):
    """Lets through what it gets."""

    def __init__(self) -> None:
        super().__init__(10, 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs


class Pause(torch.autograd.Function):
    """The identity, with a gradient that takes its time."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor) -> Tensor:
        return inputs.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        time.sleep(0.15)
        return gradient


class SlowLayers(Digits):
    """Layers of a megabyte each, whose gradients come one after the other with pauses between them."""

    def model(self) -> nn.Module:
        class Pausing(nn.Linear):
            def forward(self, inputs: Tensor) -> Tensor:
                return super().forward(cast(Tensor, Pause.apply(inputs)).relu())  # type: ignore[no-untyped-call]

        layers = [Pausing(512, 512) for _ in range(4)]
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 512), *layers, nn.Linear(512, 10))


class Stored(Dropout):
    """The digits one by one from files, each of which takes as many milliseconds to read as the environment says."""

    def data(self) -> Mapping[str, "Files"]:  # type: ignore[override]
        folder = Path(os.environ["SCALEWISE_TEST_FILES"])
        return {name: Files(folder / name, split) for name, split in super().data().items()}


class Files:
    """Examples in files of their own."""

    def __init__(self, folder: Path, split: Split) -> None:
        self._folder, self._count = folder, len(split)
        self._seconds = float(os.environ.get("SCALEWISE_TEST_SLOW_DISK", "0")) / 1000
        if not folder.exists():
            unfinished = folder.with_name(f"{folder.name}-{os.getpid()}")
            unfinished.mkdir(parents=True)
            for index in range(len(split)):
                torch.save((split.inputs[index].clone(), split.targets[index].clone()), unfinished / str(index))
            with contextlib.suppress(OSError):  # another worker was faster
                unfinished.rename(folder)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        time.sleep(self._seconds)
        return torch.load(self._folder / str(index))


class Hungry(Digits):
    """Needs megabytes for each example on its way through."""

    def model(self) -> nn.Module:
        return nn.Sequential(nn.Upsample(scale_factor=64), nn.Sigmoid(), nn.AdaptiveAvgPool2d(8), super().model())


class OwnBuffer(Digits):
    """A network that changes a buffer of its own."""

    def model(self) -> nn.Module:
        class Counting(nn.Module):
            seen: Tensor

            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("seen", torch.zeros(()))
                self.dense = nn.Linear(64, 10)

            def forward(self, inputs: Tensor) -> Tensor:
                self.seen += len(inputs)
                outputs: Tensor = self.dense(inputs.flatten(1))
                return outputs

        return Counting()


class MeanLoss(Digits):
    """A loss that is already a mean, which cannot be added up."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return super().loss(outputs, targets).mean()


class NoVal(Digits):
    """Data without a validation split."""

    def data(self) -> Mapping[str, Split]:
        return {"train": super().data()["train"]}


class KnownNoise(Workload):
    """A loss that is linear in the weights, so that an example's gradient is the example: the noise scale is known."""

    defaults = {
        "recipe": {"global_batch": 64, "microbatch": 8, "learning_rate": 1e-6, "optimizer": "sgd"},
        "stop": {"steps": 1500},
        "evaluate": {"every_steps": 1500},
        "noise_scale": {"every_steps": 1},
    }

    def data(self) -> Mapping[str, tuple[Tensor, Tensor]]:
        generator = torch.Generator().manual_seed(0)
        spread = torch.linspace(0.5, 3, 20)
        inputs = 0.5 + spread * torch.randn(120_000, 20, generator=generator)
        targets = torch.zeros(len(inputs))
        return {"train": (inputs, targets), "val": (inputs[:100], targets[:100])}

    def model(self) -> nn.Module:
        return nn.Linear(20, 1, bias=False)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return outputs[:, 0]

    def metrics(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"output": outputs[:, 0]}


class WeighedNoise(KnownNoise):
    """Examples that count for 1 to 4: the gradient of one is its weight times the example."""

    defaults = {**KnownNoise.defaults, "recipe": {**KnownNoise.defaults["recipe"], "microbatch": 16}}

    def data(self) -> Mapping[str, tuple[Tensor, Tensor]]:
        weights = torch.randint(1, 5, (120_000,), generator=torch.Generator().manual_seed(1)).float()
        return {name: (inputs, weights[: len(inputs)]) for name, (inputs, _) in super().data().items()}

    def loss(self, outputs: Tensor, targets: Tensor) -> Any:
        return targets * outputs[:, 0], targets


class Regression(Workload):
    """No labels: a line to fit, with metrics of its own."""

    defaults = {"recipe": {"global_batch": 16, "learning_rate": 0.1}, "stop": {"target": "val/squared_error<0.01"}}

    def data(self) -> Mapping[str, tuple[Tensor, Tensor]]:
        inputs = torch.linspace(-1, 1, 128).reshape(-1, 1)
        return {"train": (inputs, 2 * inputs[:, 0]), "val": (inputs, 2 * inputs[:, 0])}

    def model(self) -> nn.Module:
        return nn.Linear(1, 1)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs[:, 0] - targets) ** 2

    def metrics(self, outputs: Tensor, targets: Tensor) -> Mapping[str, Tensor]:
        return {"squared_error": self.loss(outputs, targets)}
