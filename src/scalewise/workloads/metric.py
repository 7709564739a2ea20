"""What a metric is: its name, which way is better, and how what examples give becomes one figure."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from scalewise.errors import WorkloadError

_NAME = re.compile(r"[^\s/,<>=\"']+")


@dataclass(frozen=True)
class Metric:
    """One figure of a split.

    Most metrics are means over examples: `Workload.metrics` gives one value per example, or a pair of sums and weights.
    `of_mean` turns the mean into the figure: perplexity is `math.exp` of the mean loss. A metric that is not a mean,
    such as average precision, has `of_all`: it is called with what `Workload.metrics` gave for all examples of the
    split, in their order, whichever worker had them.

    >>> import math
    >>> Metric("perplexity", of_mean=math.exp).figure(0.0)
    1.0
    """

    name: str
    lower_is_better: bool = True
    unit: str = ""
    complement: str = ""
    """What 1 - value is called, where people would rather read that: accuracy."""
    of_mean: Callable[[float], float] | None = None
    of_all: Callable[..., float] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise WorkloadError(f"a metric cannot be named {self.name!r}: use letters, digits and underscores")
        if self.of_mean is not None and self.of_all is not None:
            raise WorkloadError(f"metric {self.name!r} is made of the mean or of all examples, not of both")

    def figure(self, mean: float) -> float:
        """Turn a mean into the figure; what is too large for a number is infinite."""
        if self.of_mean is None:
            return mean
        try:
            return float(self.of_mean(mean))
        except OverflowError:
            return float("inf")
