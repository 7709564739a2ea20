"""A median and how well it is known."""

import math
from collections.abc import Sequence
from typing import NamedTuple

_FEWEST = 6  # below that no interval from the samples' order covers 95 %


class Median(NamedTuple):
    """The median of a sample, with an interval that holds the true one in 95 of 100 cases."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """The interval's width relative to the median."""
        return (self.high - self.low) / self.value


def median(samples: Sequence[float]) -> Median:
    """Return the median and the interval between two of the ordered samples.

    Each sample is above the true median with probability 1/2, whatever the distribution. So the interval ends at the
    samples that a fair coin would exceed once in forty times on either side.

    >>> median([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 7.0])
    Median(value=4.0, low=1.0, high=7.0)
    """
    ordered = sorted(samples)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    reach = math.floor((count - 1.96 * math.sqrt(count)) / 2) if count >= _FEWEST else 0
    reach = max(reach, 0)
    return Median(middle, ordered[reach], ordered[count - 1 - reach])
