"""A duration says how long something lasts in a unit that is the same at every batch size, e.g. `5 epochs`."""

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import PlainSerializer, PlainValidator

_PATTERN = re.compile(r"\s*(?P<amount>[0-9.eE+-]+)\s*(?P<unit>epoch|example|step)s?\s*")


class Unit(StrEnum):
    """What a duration is counted in."""

    EPOCHS = "epochs"
    EXAMPLES = "examples"
    STEPS = "steps"


@dataclass(frozen=True)
class Duration:
    """An amount of training."""

    amount: float
    unit: Unit

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a duration from its text.

        >>> Duration.parse("5 epochs")
        Duration(amount=5.0, unit=<Unit.EPOCHS: 'epochs'>)
        """
        match = _PATTERN.fullmatch(text)
        try:
            amount = float(match["amount"]) if match else math.nan
        except ValueError:
            amount = math.nan
        if match is None or not math.isfinite(amount) or amount < 0:
            raise ValueError("a duration such as '5 epochs', '1000 steps' or '50000 examples'")
        return cls(amount, Unit(f"{match['unit']}s"))

    def examples(self, global_batch: int, train_examples: int) -> float:
        """Count it in examples."""
        return self.amount * {Unit.EPOCHS: train_examples, Unit.EXAMPLES: 1, Unit.STEPS: global_batch}[self.unit]

    def steps(self, global_batch: int, train_examples: int) -> float:
        """Count it in steps, which need not be whole ones.

        >>> Duration.parse("5 epochs").steps(global_batch=64, train_examples=160)
        12.5
        """
        return self.examples(global_batch, train_examples) / global_batch

    def __str__(self) -> str:
        return f"{plain(self.amount)} {self.unit}"


def plain(value: float) -> str:
    """Write a number with all of its digits, a whole one without a point.

    >>> plain(5.0), plain(1234567.0), plain(0.1)
    ('5', '1234567', '0.1')
    """
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


def _read(value: Any) -> Duration:
    return value if isinstance(value, Duration) else Duration.parse(str(value))


def _write(duration: Duration) -> str:
    return str(duration)


DurationField = Annotated[Duration, PlainValidator(_read), PlainSerializer(_write)]
"""A duration as a field of a configuration, which files write as text."""
