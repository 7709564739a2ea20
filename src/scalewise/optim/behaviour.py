"""Watches what a network with batch normalisation makes of a few examples, and of its running statistics."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from scalewise.optim.batch_norm import STATISTICS, MicrobatchNorm, Moments
from scalewise.optim.kernels import AnyBatchNorm
from scalewise.optim.randomness import seed_generators

SAME = 1e-4
"""How far two networks may be apart, relative to what is compared: another order of additions, and no more."""
_DRIFT = 0.5
"""How far later statistics are from those of the examples, in standard deviations."""
_LATER_STEPS = 10_000

Statistics = dict[str, list[Tensor]]
"""The running mean, the running variance and the count of each layer, by its name."""


@dataclass(frozen=True)
class Call:
    """One call of one layer."""

    layer: str
    outputs: list[Tensor]
    one_tensor: bool
    """Whether one tensor goes in and one comes out."""


@dataclass(frozen=True)
class Pass:
    """What came of putting the examples through the network once."""

    mode: str
    start: Statistics
    calls: list[Call]
    outputs: list[Tensor]
    end: Statistics


@dataclass
class Watch:
    """Puts the same examples through the same network as often as it is asked to, and leaves the network as it was."""

    model: nn.Module
    layers: Mapping[str, AnyBatchNorm]
    forward: Callable[[nn.Module], Any]
    running: list[str] = field(default_factory=list)
    """The layers that are being computed: where an error comes from."""
    _later: Statistics | None = None

    def __post_init__(self) -> None:
        self._device = next((parameter.device for parameter in self.model.parameters()), torch.device("cpu"))
        self._given = {name: buffer.clone() for name, buffer in self.model.named_buffers()}

    def passes(self) -> list[Pass]:
        """Train from the given statistics; then train and evaluate from others, such as many steps would leave.

        The first pass has momentum 1: so it ends with the examples' own statistics, around which the others are drawn.
        """
        try:
            with _momentum(self.layers.values(), 1.0):
                first = self._pass(training=True, start=_statistics(self.layers))
            self._later = self._later or _drifted(first.end)
            return [first, self._pass(training=True, start=self._later), self._pass(training=False, start=self._later)]
        finally:
            self._put_back()
            self.model.train()

    def _pass(self, training: bool, start: Statistics) -> Pass:
        self._put_back()
        for name, layer in self.layers.items():
            for statistic, value in zip(STATISTICS, start[name], strict=True):
                getattr(layer, statistic).copy_(value)
        with torch.no_grad(), self._seeded(), self._watched() as calls:
            outputs = _copies(self.forward(self.model.train(training)))
        return Pass("training" if training else "evaluation", start, calls, outputs, _statistics(self.layers))

    def _put_back(self) -> None:
        for name, buffer in self.model.named_buffers():
            buffer.copy_(self._given[name])

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Let dropout draw the same every time."""
        with torch.random.fork_rng([self._device] if self._device.type == "cuda" else []):
            seed_generators(0, self._device)
            yield

    @contextmanager
    def _watched(self) -> Iterator[list[Call]]:
        """Note the outputs of every layer, and move its statistics by what it has added up, as it would do by itself.

        They move after every call and not once per step: that is what a layer does that is used twice.
        """
        ours = [layer for layer in self.layers.values() if isinstance(layer, MicrobatchNorm)]
        moments = Moments(ours) if ours else None
        calls: list[Call] = []

        def begin(name: str) -> Callable[..., None]:
            return lambda *_: self.running.append(name)

        def end(name: str) -> Callable[..., None]:
            def note(layer: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], outputs: object) -> None:
                self.running.pop()
                one_tensor = len(inputs) == 1 and not named and isinstance(outputs, Tensor)
                calls.append(Call(name, _copies(outputs), one_tensor))
                move()

            return note

        def move() -> None:
            if moments is not None:
                moments.move_running_statistics(moments.sums)
                moments.clear()

        self.running.clear()
        with ExitStack() as hooks:
            for name, layer in self.layers.items():
                hooks.enter_context(layer.register_forward_pre_hook(begin(name)))
                hooks.enter_context(layer.register_forward_hook(end(name), with_kwargs=True))
            yield calls
        move()  # what was not called through its hooks


def tensors_of(value: object) -> Iterator[Tensor]:
    """Go through all tensors of whatever a network returns.

    >>> len(list(tensors_of({"scores": torch.zeros(2), "more": [(torch.zeros(1), "a word")]})))
    2
    """
    return _tensors(value, set())


def _copies(value: object) -> list[Tensor]:
    return [tensor.detach().clone() for tensor in tensors_of(value)]


def _tensors(value: object, seen: set[int]) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif id(value) not in seen and not isinstance(value, (str, bytes, type, nn.Module)):
        seen.add(id(value))
        for part in _parts(value):
            yield from _tensors(part, seen)


def _parts(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    return list(getattr(value, "__dict__", {}).values())  # a dataclass, a distribution, anything of one's own


def _statistics(layers: Mapping[str, AnyBatchNorm]) -> Statistics:
    return {name: [getattr(layer, one).clone() for one in STATISTICS] for name, layer in layers.items()}


@contextmanager
def _momentum(layers: Iterable[AnyBatchNorm], value: float) -> Iterator[None]:
    kept = [(layer, layer.momentum) for layer in layers]
    for layer, _ in kept:
        layer.momentum = value
    try:
        yield
    finally:
        for layer, momentum in kept:
            layer.momentum = momentum


def _drifted(statistics: Statistics) -> Statistics:
    """Return statistics that are near the given ones, but not the same."""
    generator = torch.Generator().manual_seed(0)

    def drifted(mean: Tensor, variance: Tensor, count: Tensor) -> list[Tensor]:
        shift, factor = torch.rand(2, *mean.shape, generator=generator).to(mean.device)
        return [mean + _DRIFT * shift * variance.sqrt(), variance * (1 + factor), count + _LATER_STEPS]

    return {name: drifted(*values) for name, values in statistics.items()}
