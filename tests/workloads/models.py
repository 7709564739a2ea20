"""Workloads for tests: the digits, through networks of many kinds; most train, some must be refused."""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from scalewise.data.images.digits import DIGITS
from scalewise.workloads import Classification, Workload


class Digits(Classification):
    """The digits, through a dense network."""

    defaults = {
        "recipe": {"global_batch": 48, "microbatch": 16, "learning_rate": 0.05, "weight_decay": 0.001},
        "stop": {"steps": 4},
        "evaluate": {"every_steps": 4, "batch": 50},
    }

    def data(self) -> Mapping[str, Any]:
        return DIGITS.load()

    def model(self) -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 32), *self.middle(), nn.Linear(32, 10))

    def summed_loss(self, outputs: Any, targets: Tensor, label_smoothing: float) -> Tensor:
        stop_once(outputs)
        return super().summed_loss(outputs, targets, label_smoothing)

    def middle(self) -> tuple[nn.Module, ...]:
        """Return what is new about a network, between 32 features and 32 features."""
        return (nn.ReLU(),)


def stop_once(outputs: Tensor) -> None:
    """Ask this process to stop in its first step, if the environment names a file that is not there yet."""
    file = Path(os.environ.get("SCALEWISE_TEST_STOP_ONCE", os.devnull))
    in_a_step = outputs.requires_grad and len(outputs) > 4  # before it, a few examples are tried
    if in_a_step and not file.exists():
        file.touch()
        os.kill(os.getpid(), signal.SIGTERM)


class Tied(Digits):
    """One matrix that embeds pixels and that scores classes."""

    def model(self) -> nn.Module:
        class Network(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.encoder, self.dense, self.decoder = nn.Embedding(17, 8), nn.Linear(64 * 8, 8), nn.Linear(8, 17)
                self.decoder.weight = self.encoder.weight

            def forward(self, images: Tensor) -> Tensor:
                tokens = (16 * images.flatten(1)).round().long().clamp(0, 16)
                return cast(Tensor, self.decoder(self.dense(self.encoder(tokens).flatten(1)).tanh()))

        return Network()


class FrozenWeights(Digits):
    """A layer that does not learn."""

    def model(self) -> nn.Module:
        network = super().model()
        cast(nn.Linear, network.get_submodule("1")).requires_grad_(False)
        return network


class Unused(Digits):
    """Parameters that never get gradients."""

    def model(self) -> nn.Module:
        network = super().model()
        network.register_parameter("unused", nn.Parameter(torch.ones(3, 5)))
        return network


class OwnBuffers(Digits):
    """A constant that is saved, and one that is not."""

    def middle(self) -> tuple[nn.Module, ...]:
        class Scaled(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("scale", torch.rand(32))
                self.register_buffer("shift", torch.rand(32), persistent=False)

            def forward(self, inputs: Tensor) -> Tensor:
                return inputs.relu() * cast(Tensor, self.scale) + cast(Tensor, self.shift)

        return (Scaled(),)


class WeightNorm(Digits):
    """A layer whose weight is made of two parameters."""

    def middle(self) -> tuple[nn.Module, ...]:
        return parametrizations.weight_norm(nn.Linear(32, 32)), nn.ReLU()


class Recurrent(Digits):
    """Layers that keep lists of their parameters."""

    def model(self) -> nn.Module:
        class Network(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.rows, self.head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 10)

            def forward(self, images: Tensor) -> Tensor:
                return cast(Tensor, self.head(self.rows(images[:, 0])[0][:, -1]))

        return Network()


class Attention(Digits):
    """A transformer, which computes in another way in evaluation."""

    def model(self) -> nn.Module:
        class Network(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                layer = nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16, batch_first=True)
                self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(8, 10)

            def forward(self, images: Tensor) -> Tensor:
                return cast(Tensor, self.head(self.encoder(images[:, 0]).mean(dim=1)))

        return Network()


class ViewedFilters(Digits):
    """A convolution that looks at its filters as a matrix, and a table of four dimensions."""

    def model(self) -> nn.Module:
        class Standardised(nn.Conv2d):
            def forward(self, inputs: Tensor) -> Tensor:
                rows = self.weight.view(len(self.weight), -1)
                rows = (rows - rows.mean(dim=1, keepdim=True)) / rows.std()
                return F.conv2d(inputs, rows.view_as(self.weight), self.bias)

        class Table(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.table = nn.Parameter(torch.randn(1, 6, 4, 4))

            def forward(self, inputs: Tensor) -> Tensor:
                return inputs.relu().flatten(1) + self.table.view(-1)

        return nn.Sequential(nn.Conv2d(1, 4, 3), Standardised(4, 6, 3), Table(), nn.Linear(96, 10))


class NormAct(nn.BatchNorm1d):
    """Holds its activation, as timm's `BatchNormAct2d` does."""

    def forward(self, inputs: Tensor) -> Tensor:
        return super().forward(inputs).relu()


class NormWithActivation(Digits):
    """Batch normalisation with a forward of its own."""

    def middle(self) -> tuple[nn.Module, ...]:
        return (NormAct(32),)


class SharedNorm(Digits):
    """One batch normalisation in two places."""

    def middle(self) -> tuple[nn.Module, ...]:
        shared = NormAct(32)
        return shared, nn.Linear(32, 32), shared


class FrozenNorm(Digits):
    """Batch normalisation that stays in evaluation mode, with statistics that came from elsewhere."""

    def model(self) -> nn.Module:
        class Network(nn.Sequential):
            def train(self, mode: bool = True) -> "Network":
                super().train(mode)
                self[2].eval()
                return self

        frozen = nn.BatchNorm1d(32).requires_grad_(False)
        cast(Tensor, frozen.running_mean).copy_(torch.rand(32))
        return Network(nn.Flatten(), nn.Linear(64, 32), frozen, nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 10))


class SeveralOutputs(Workload):
    """Scores and a reconstruction of the image, in a tuple."""

    defaults = Digits.defaults

    def data(self) -> Mapping[str, Any]:
        return DIGITS.load()

    def model(self) -> nn.Module:
        return Branches(tuple)

    def loss(self, outputs: Any, targets: Tensor) -> Tensor:
        scores, restored = self.parts(outputs)
        return F.cross_entropy(scores, targets, reduction="none") + restored.flatten(1).square().mean(dim=1)

    def metrics(self, outputs: Any, targets: Tensor) -> Mapping[str, Tensor]:
        return {"loss": self.loss(outputs, targets), "error": self.parts(outputs)[0].argmax(dim=1) != targets}

    def parts(self, outputs: Any) -> tuple[Tensor, Tensor]:
        return outputs[0], outputs[1]


class Branches(nn.Module):
    """Gives two outputs in a container."""

    def __init__(self, container: Any) -> None:
        super().__init__()
        self._container = container
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU())
        self.scores, self.restored = nn.Linear(32, 10), nn.Linear(32, 64)

    def forward(self, images: Tensor) -> Any:
        features = self.body(images)
        outputs = self.scores(features), images - self.restored(features).view_as(images)
        if self._container is tuple:
            return outputs
        return self._container(scores=outputs[0], more={"restored": outputs[1]})


class NamedOutputs(SeveralOutputs):
    """In a dictionary inside a dictionary."""

    def model(self) -> nn.Module:
        return Branches(dict)

    def parts(self, outputs: Any) -> tuple[Tensor, Tensor]:
        return outputs["scores"], outputs["more"]["restored"]


@dataclass
class ModelOutput:
    """As a library of models would return it."""

    scores: Tensor
    more: dict[str, Tensor]


class ObjectOutputs(SeveralOutputs):
    """In an object."""

    def model(self) -> nn.Module:
        return Branches(ModelOutput)

    def parts(self, outputs: Any) -> tuple[Tensor, Tensor]:
        return outputs.scores, outputs.more["restored"]


class Lazy(Digits):
    """A layer whose shape nobody knows."""

    def middle(self) -> tuple[nn.Module, ...]:
        return nn.LazyLinear(32), nn.LazyBatchNorm1d()


class Meta(Digits):
    """A layer without values."""

    def middle(self) -> tuple[nn.Module, ...]:
        return (nn.Linear(32, 32, device="meta"),)


class Double(Digits):
    """Batch normalisation in double precision."""

    def model(self) -> nn.Module:
        return NormWithActivation().model().double()


class Half(Digits):
    """Half precision."""

    def model(self) -> nn.Module:
        return NormWithActivation().model().half()


class NoModule(Digits):
    """A function in place of a network."""

    def model(self) -> nn.Module:
        return cast(nn.Module, torch.relu)


class Nothing(Digits):
    """Nothing that learns."""

    def model(self) -> nn.Module:
        return super().model().requires_grad_(False)


class Aliased(Digits):
    """Two parameters in the same memory."""

    def model(self) -> nn.Module:
        encoder, decoder = nn.Linear(64, 32), nn.Linear(32, 64)
        decoder.weight = nn.Parameter(encoder.weight.detach().t())
        return nn.Sequential(nn.Flatten(), encoder, decoder)


class Sparse(Digits):
    """Gradients that are not dense."""

    def model(self) -> nn.Module:
        return nn.Sequential(nn.Flatten(), nn.Embedding(64, 10, sparse=True))


class ExtraState(Digits):
    """Something in its state that is no tensor."""

    def middle(self) -> tuple[nn.Module, ...]:
        class Noted(nn.ReLU):
            def get_extra_state(self) -> Any:
                return "a note"

        return (Noted(),)


class Unsaved(Digits):
    """A parameter that is not in its state."""

    def middle(self) -> tuple[nn.Module, ...]:
        class Hidden(nn.Linear):
            def state_dict(self, *args: Any, **kwargs: Any) -> Any:
                return kwargs.get("destination", {})

        return (Hidden(32, 32),)


class TrackingInstances(Digits):
    """A normalisation with running statistics that is no batch normalisation."""

    def model(self) -> nn.Module:
        return nn.Sequential(nn.InstanceNorm2d(1, track_running_stats=True), super().model())


class SpectralNorm(Digits):
    """Changes its buffers in training."""

    def middle(self) -> tuple[nn.Module, ...]:
        return (parametrizations.spectral_norm(nn.Linear(32, 32)),)
