"""Student's distribution for whole degrees of freedom, where importing SciPy would take longer than the answer."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_tail_of_four(values: Floats) -> Floats:
    """Return the logarithm of the share beyond each value, for four degrees of freedom."""
    root = np.sqrt(4 + values**2)
    beyond = np.where(values > 0, 4 / (root * (root + np.abs(values))), 1 - values / root)  # 1 - sin, without loss
    result: Floats = np.log(beyond**2 * (3 - beyond) / 4)
    return result


def quantile(probability: float, freedom: int) -> float:
    """Return the value below which this share of the distribution lies, for shares of a half and more.

    >>> round(quantile(0.95, 1), 4), round(quantile(0.95, 8), 4), round(quantile(0.95, 10_000), 4)
    (6.3138, 1.8595, 1.645)
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (low, angle) if _within(angle, freedom) > 2 * probability - 1 else (angle, high)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """Return the share between plus and minus sqrt(freedom) tan(angle): Abramowitz and Stegun 26.7.3 and 26.7.4."""
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for number in range(1 + odd, freedom - 2, 2):
        term *= number / (number + 1) * math.cos(angle) ** 2
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + (math.sin(angle) * total if freedom > 1 else 0.0))
