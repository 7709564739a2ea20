"""A target is a metric and a value to get past, strictly, e.g. `val/classification_error<0.12`."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import PlainSerializer, PlainValidator

from scalewise.config.duration import plain
from scalewise.errors import ConfigError, nearest

_PATTERN = re.compile(r"\s*(?P<metric>[^<>\s=]+)\s*(?P<sign>[<>])\s*(?P<value>[^<>\s=]+)\s*")


@dataclass(frozen=True)
class Target:
    """A metric and the value it must get past."""

    metric: str
    below: bool
    value: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a target from its text.

        >>> Target.parse("val/classification_error<0.12")
        Target(metric='val/classification_error', below=True, value=0.12)
        """
        match = _PATTERN.fullmatch(text)
        try:
            value = float(match["value"]) if match else math.nan
        except ValueError:
            value = math.nan
        if match is None or not math.isfinite(value):
            raise ConfigError(f"stop.target {text!r} is not like 'val/classification_error<0.05'")
        return cls(match["metric"], match["sign"] == "<", value)

    def reached(self, metrics: Mapping[str, float]) -> bool:
        """Say whether the metrics of one evaluation are past the target."""
        value = metrics[self.metric]
        return value < self.value if self.below else value > self.value

    def check(self, metrics: Collection[str]) -> None:
        """Refuse a target on a metric that is not among those measured."""
        if self.metric not in metrics:
            hint = nearest(self.metric, metrics) or f"; there are {', '.join(metrics)}"
            raise ConfigError(f"stop.target names the unknown metric {self.metric!r}{hint}")

    def __str__(self) -> str:
        return f"{self.metric}{'<' if self.below else '>'}{plain(self.value)}"


def _read(value: Any) -> Target:
    return value if isinstance(value, Target) else Target.parse(str(value))


def _write(target: Target) -> str:
    return str(target)


TargetField = Annotated[Target, PlainValidator(_read), PlainSerializer(_write)]
"""A target as a field of a configuration, which files write as text."""


TRAIN_LOSS = "train_loss"


def _read_loss(value: Any) -> Target:
    target = _read(value)
    if target.metric != TRAIN_LOSS:
        raise ConfigError(f"stop.loss {str(value)!r} is not like '{TRAIN_LOSS}<5.0'; stop.target is for other metrics")
    return target


LossTargetField = Annotated[Target, PlainValidator(_read_loss), PlainSerializer(_write)]
"""A target on the training loss, which steps measure and not evaluations."""
