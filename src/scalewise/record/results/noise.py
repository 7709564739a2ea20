"""The gradient noise scale among a run's measurements: a column for it, two for its interval, one for its steps."""

import math
from collections.abc import Mapping

from scalewise.record.results.file import ResultPart

_NAME = "noise_scale"
_COLUMNS = {"value": _NAME, "low": f"{_NAME}_low", "high": f"{_NAME}_high", "steps": f"{_NAME}_steps"}


class MeasuredNoise(ResultPart):
    """The noise scale over the steps since the measurement before; what those leave open is None."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    steps: int = 0

    def columns(self) -> dict[str, float]:
        """Return it as a row of measurements has it."""
        return {_COLUMNS[name]: math.nan if value is None else value for name, value in self}

    @classmethod
    def of(cls, metrics: Mapping[str, float]) -> "MeasuredNoise | None":
        """Read it from a row of measurements; None where it was not measured."""
        if _NAME not in metrics:
            return None
        row = {name: metrics.get(column, math.nan) for name, column in _COLUMNS.items()}
        known = {name: value for name, value in row.items() if math.isfinite(value)}
        return cls(**{**known, "steps": int(known.get("steps", 0))})


def is_noise(column: str) -> bool:
    """Say whether a column of measurements belongs to the noise scale, and is no metric."""
    return column in _COLUMNS.values()
