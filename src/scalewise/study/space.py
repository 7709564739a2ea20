"""Search spaces: what is tuned, within which bounds, and which point a trial tries."""

import hashlib
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from scipy.stats import qmc

from scalewise.config import Recipe, read_yaml
from scalewise.errors import ConfigError, nearest
from scalewise.record.results.study import ParameterRange
from scalewise.seeds import Purpose, derive

Edge = Literal["min_value", "max_value"]

_EDGE = 0.05
"""A point in the outermost part of a range is at its edge."""


class Parameter(BaseModel):
    """One setting of the recipe that is searched."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    type: Literal["DOUBLE", "INTEGER", "DISCRETE"]
    min_value: float | None = None
    max_value: float | None = None
    scale: Literal["LINEAR_SCALE", "LOG_SCALE", "REVERSE_LOG_SCALE", ""] = ""
    feasible_points: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.type == "DISCRETE":
            if not self.feasible_points:
                raise ValueError("has no feasible_points")
            if len(set(self.feasible_points)) < len(self.feasible_points):
                raise ValueError("has a feasible point twice")
            return self
        if self.min_value is None or self.max_value is None or not self.min_value <= self.max_value:
            raise ValueError(f"is empty: it goes from {self.min_value} to {self.max_value}")
        if self.scale == "LOG_SCALE" and self.min_value <= 0:
            raise ValueError(f"has a LOG_SCALE, which needs a min_value above 0, not {self.min_value:g}")
        if self.scale == "REVERSE_LOG_SCALE" and self.max_value >= 1:
            raise ValueError(f"has a REVERSE_LOG_SCALE, which needs a max_value below 1, not {self.max_value:g}")
        return self

    def at(self, share: float) -> float | int:
        """Return the value that lies so far into the range, 0 to 1.

        >>> Parameter(type="DOUBLE", min_value=0.01, max_value=1, scale="LOG_SCALE").at(0.5)
        0.1
        >>> Parameter(type="DOUBLE", min_value=0.0, max_value=0.99, scale="REVERSE_LOG_SCALE").at(0.5)
        0.9
        """
        if self.type == "DISCRETE":
            return self.feasible_points[min(int(share * len(self.feasible_points)), len(self.feasible_points) - 1)]
        assert self.min_value is not None and self.max_value is not None
        if self.type == "INTEGER":
            return min(int(self.min_value + share * (self.max_value + 1 - self.min_value)), int(self.max_value))
        first, last = (self._scaled(end) for end in (self.min_value, self.max_value))
        return float(f"{self._unscaled(first + share * (last - first)):.12g}")

    def at_edge(self, value: float) -> Edge | None:
        """Say at which end of its range a value lies, if at one; a range that cannot be widened has no end there."""
        if self.type != "DOUBLE" or self.min_value is None or self.max_value is None:
            return None
        first, here, last = (self._scaled(point) for point in (self.min_value, value, self.max_value))
        share = (here - first) / (last - first) if last != first else 0.5
        if share > 1 - _EDGE:
            return "max_value"
        return "min_value" if share < _EDGE and self.min_value > 0 else None

    def widened(self, edge: Edge) -> Self:
        """Return a range that is wider by half beyond one of its ends.

        >>> rate = Parameter(type="DOUBLE", min_value=0.01, max_value=1, scale="LOG_SCALE")
        >>> rate.widened("max_value").max_value, rate.widened("min_value").min_value
        (10.0, 0.001)
        """
        assert self.min_value is not None and self.max_value is not None
        first, last = self._scaled(self.min_value), self._scaled(self.max_value)
        beyond = (last - first) / 2
        value = self._unscaled(last + beyond if edge == "max_value" else first - beyond)
        if edge == "min_value":
            value = max(value, self.min_value / 10)
        return self.model_copy(update={edge: float(f"{value:.6g}")})

    def _scaled(self, value: float) -> float:
        match self.scale:
            case "LOG_SCALE":
                return math.log(value)
            case "REVERSE_LOG_SCALE":
                return -math.log(1 - value)
            case _:
                return value

    def _unscaled(self, value: float) -> float:
        match self.scale:
            case "LOG_SCALE":
                return math.exp(value)
            case "REVERSE_LOG_SCALE":
                return 1 - math.exp(-value)
            case _:
                return value

    def as_range(self) -> ParameterRange:
        """Return it in the form of the layout."""
        if self.type == "DISCRETE":
            return ParameterRange(type=self.type, feasible_points=list(self.feasible_points))
        whole = int if self.type == "INTEGER" else float
        low, high = whole(self.min_value or 0), whole(self.max_value or 0)
        return ParameterRange(type=self.type, min_value=low, max_value=high, scale=self.scale)

    @classmethod
    def of(cls, found: ParameterRange) -> Self:
        """Read it from the layout."""
        return cls.model_validate(found.model_dump())


Space = Mapping[str, Parameter]


def point(space: Space, study: str, seed: int, trial_id: int) -> dict[str, float | int]:
    """Return what a trial tries: a pure function of the study, the seed and the trial's number.

    The numbers of a study lie along a scrambled Halton sequence, which fills the space evenly from the first ones on.
    """
    name = int.from_bytes(hashlib.sha256(study.encode()).digest()[:7])
    sequence = qmc.Halton(len(space), scramble=True, rng=derive(seed, Purpose.SEARCH, name))
    (shares,) = sequence.fast_forward(trial_id).random(1)
    return {name: parameter.at(float(share)) for (name, parameter), share in zip(space.items(), shares, strict=True)}


@dataclass(frozen=True)
class Spaces:
    """The space of every batch size: a common one, and other ranges for some batch sizes."""

    common: Space
    by_batch_size: Mapping[range, Space]

    def at(self, batch_size: int) -> Space:
        """Return the space of a batch size."""
        other = next((space for sizes, space in self.by_batch_size.items() if batch_size in sizes), {})
        return {**self.common, **other}


def default_space(optimizer: str, learning_rate: float, reference_batch: int, batch_size: int) -> Space:
    """Return a wide range around the workload's own learning rate, scaled by the root of the batch, and momentum."""
    middle = learning_rate * math.sqrt(batch_size / reference_batch)
    rate = Parameter(type="DOUBLE", min_value=middle / 30, max_value=middle * 30, scale="LOG_SCALE")
    if optimizer == "sgd":
        return {"learning_rate": rate}
    return {
        "learning_rate": rate,
        "momentum": Parameter(type="DOUBLE", min_value=0.0, max_value=0.995, scale="REVERSE_LOG_SCALE"),
    }


def read_spaces(file: Path) -> Spaces:
    """Read a space file: settings of the recipe, and under `by_batch_size` other ranges for batch sizes like 8..64."""
    content = dict(read_yaml(file))
    special = content.pop("by_batch_size", {}) or {}
    if not isinstance(special, Mapping):
        raise ConfigError(f"{file}: by_batch_size should hold ranges such as '8..64:', not {special!r}")
    by_batch_size = {_sizes(str(key), file): _space(space, f"{file}, {key}") for key, space in special.items()}
    _check_overlaps(list(by_batch_size), file)
    common = _space(content, str(file))
    if not common and not by_batch_size:
        raise ConfigError(f"{file} holds no settings to search")
    return Spaces(common, by_batch_size)


def _space(content: object, where: str) -> Space:
    if not isinstance(content, Mapping):
        raise ConfigError(f"{where} should hold settings such as 'learning_rate:', not {content!r}")
    return {str(name): _parameter(str(name), value, where) for name, value in content.items()}


def _parameter(name: str, content: object, where: str) -> Parameter:
    if name not in Recipe.model_fields or name in ("global_batch", "seed"):
        raise ConfigError(
            f"{where}: {name!r} is not a setting of the recipe that can be searched{nearest(name, Recipe.model_fields)}"
        )
    try:
        parameter = Parameter.model_validate(content)
    except ValidationError as error:
        found = error.errors()[0]
        reason = found["msg"].removeprefix("Value error, ")
        key = ".".join(map(str, found["loc"]))
        raise ConfigError(f"{where}: {name} {f'{key}: ' if key else ''}{reason}") from None
    if name == "momentum" and max(parameter.max_value or 0.0, *parameter.feasible_points, 0.0) >= 1:
        raise ConfigError(f"{where}: momentum must stay below 1")
    return parameter


def _sizes(text: str, file: Path) -> range:
    """Read a range of batch sizes, both ends of which belong to it."""
    first, dots, last = text.partition("..")
    if not first.isdigit() or (dots and not last.isdigit()):
        raise ConfigError(f"{file}: by_batch_size has {text!r}, which is not like '64' or '8..64'")
    sizes = range(int(first), int(last or first) + 1)
    if not sizes:
        raise ConfigError(f"{file}: by_batch_size has {text!r}, which holds no batch size")
    return sizes


def _check_overlaps(ranges: list[range], file: Path) -> None:
    ordered = sorted(ranges, key=lambda sizes: sizes.start)
    for lower, upper in itertools.pairwise(ordered):
        if upper.start < lower.stop:
            raise ConfigError(
                f"{file}: the batch sizes {lower.start}..{lower.stop - 1} and {upper.start}..{upper.stop - 1} overlap"
            )
