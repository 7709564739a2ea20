"""Predicts steps against batch size from the gradient noise scale of a short training, without measuring them."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalewise.errors import ConfigError
from scalewise.record.folder import RunFolder
from scalewise.record.results.noise import MeasuredNoise
from scalewise.requests import NoiseRequest, TrainRequest
from scalewise.run.train import train_part

PREDICTED_BATCH_SIZES = [2**power for power in range(3, 15)]

_WINDOWS = 4
"""In how many parts of the training the noise scale is shown: it grows as the loss falls."""


@dataclass(frozen=True)
class Window:
    """The noise scale over some steps of the training."""

    until_step: int
    noise_scale: MeasuredNoise


@dataclass(frozen=True)
class NoiseReport:
    """The result of a short training."""

    windows: list[Window]

    def predicted_steps(self, batch_size: int) -> float | None:
        """Return how many times S_min a batch size would need if the noise scale were the critical batch size."""
        scale = self.windows[-1].noise_scale.value
        return None if scale is None else 1 + scale / batch_size

    def content(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        windows = [{"until_step": window.until_step, **window.noise_scale.model_dump()} for window in self.windows]
        predicted = [
            {"batch_size": size, "steps_over_s_min": self.predicted_steps(size)} for size in PREDICTED_BATCH_SIZES
        ]
        return {"noise_scale": windows[-1], "windows": windows, "predicted": predicted}


def measure_noise(request: NoiseRequest) -> NoiseReport:
    """Train a little, with the noise scale measured at every step."""
    every = max(1, request.steps // _WINDOWS)
    settings = ["noise_scale.every_steps=1", f"stop.steps={request.steps}", f"evaluate.every_steps={every}"]
    ends = ["stop.target=null", "stop.epochs=null", "stop.seconds=null", "evaluate.every_examples=null"]
    with tempfile.TemporaryDirectory(prefix="scalewise-noise-") as temporary:
        out = request.out or Path(temporary) / "run"
        overrides = (*request.overrides, *settings, *ends)
        asked = TrainRequest(
            workload=request.workload, overrides=overrides, workers=request.workers, out=out, quiet=True
        )
        train_part(asked, "the training")
        return NoiseReport(_windows(RunFolder(out)))


def latest_noise_scale(folder: RunFolder) -> MeasuredNoise | None:
    """Return the last noise scale that a run has measured; None: none."""
    measured = [found for _, metrics in folder.measurements()[1:] if (found := MeasuredNoise.of(metrics)) is not None]
    return measured[-1] if measured else None


def _windows(folder: RunFolder) -> list[Window]:
    rows = folder.measurements()[1:]  # before the first step nothing is known
    windows = [Window(step, found) for step, metrics in rows if (found := MeasuredNoise.of(metrics)) is not None]
    if not windows:
        raise ConfigError(f"{folder.path} has no measurement after its first step")
    return windows
