"""Where an axis begins and ends, and which values on it are written: the same as in a page, where page.js does it."""

import math
from collections.abc import Iterable, Sequence

from scalewise.figures.plot import Axis

_ROOM = 0.06
"""What an axis goes beyond its values, as a share of them."""
_LEAST_LOG_ROOM = 1.15
_FEW_TICKS = 4


def limits(axis: Axis, values: Iterable[float]) -> tuple[float, float]:
    """Return the ends of an axis: a little room around all that should be seen.

    >>> [round(end, 2) for end in limits(Axis("steps", log=True), [10, 1000])]
    [7.59, 1318.26]
    >>> limits(Axis("speedup", from_zero=True), [1, 2])
    (0.0, 2.12)
    """
    found = list(values) or [1.0]
    low, high = min(found), max(found)
    if axis.log:
        room = max(_LEAST_LOG_ROOM, (high / low) ** _ROOM)
        return low / room, high * room
    at_zero = axis.from_zero and low >= 0
    low = 0.0 if at_zero else low
    span = high - low or abs(high) or 1.0
    return low if at_zero else low - _ROOM * span, high + _ROOM * span


def ticks(axis: Axis, low: float, high: float, most: int) -> Sequence[float]:
    """Return the values that are written along an axis, as many as there is room for.

    >>> ticks(Axis("batch size", log=True, powers_of_two=True), 7, 70000, 7)
    [8, 32, 128, 512, 2048, 8192, 32768]
    >>> ticks(Axis("steps", log=True), 0.8, 120, 8), ticks(Axis("steps", log=True), 1, 1e12, 5)
    ([1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0], [1.0, 1000.0, 1000000.0, 1000000000.0, 1000000000000.0])
    >>> ticks(Axis("steps", log=True), 41, 59, 8), ticks(Axis("workers", whole=True), 0, 3, 12)
    ([45.0, 50.0, 55.0], [0.0, 1.0, 2.0, 3.0])
    """
    if not axis.log:
        return _linear(low, high, most, axis.whole)
    found = _powers_of_two(low, high, most) if axis.powers_of_two else _decades(low, high, (1, 2, 5))
    if len(found) > most:
        found = _thinned(_decades(low, high, (1,)), most)
    return found if len(found) > 1 else [tick for tick in _linear(low, high, min(most, _FEW_TICKS), False) if tick > 0]


def _linear(low: float, high: float, most: int, whole: bool) -> list[float]:
    rough = (high - low) / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    step = max(1, round(step)) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _powers_of_two(low: float, high: float, most: int) -> list[float]:
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    return _thinned([2.0**power if power < 0 else 2**power for power in range(first, last + 1)], most)


def _decades(low: float, high: float, multiples: Sequence[int]) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{multiple}e{power}") for power in powers for multiple in multiples]
    return [value for value in found if low <= value <= high]


def _thinned(values: Sequence[float], most: int) -> list[float]:
    """Keep every so many.

    >>> _thinned([1, 10, 100, 1000], 2)
    [1, 100]
    """
    return list(values[:: max(1, math.ceil(len(values) / max(1, most)))])
