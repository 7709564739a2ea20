"""`sw.noise`: the gradient noise scale from a short training."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.api.failures import raised_here
from scalewise.api.given_workload import AnyWorkload, named
from scalewise.api.settings import Recipe, Settings, all_overrides
from scalewise.api.showing import Shown, Shows
from scalewise.api.tables import frame
from scalewise.requests import NoiseRequest
from scalewise.words import interval, number

if TYPE_CHECKING:
    import polars as pl

    from scalewise.noise.noise import NoiseReport
    from scalewise.record.results.noise import MeasuredNoise


class Noise(Shows):
    """The gradient noise scale in each part of a short training, and the steps that it predicts."""

    def __init__(self, report: "NoiseReport") -> None:
        self._report = report

    @property
    def noise_scale(self) -> "MeasuredNoise":
        """The last one: `value`, `low`, `high`, and the `steps` that it rests on; what those leave open is None."""
        return self._report.windows[-1].noise_scale

    @property
    def windows(self) -> "pl.DataFrame":
        """The noise scale in each part of the training: it grows as the loss falls."""
        return frame(
            {"until_step": window.until_step, **window.noise_scale.model_dump()} for window in self._report.windows
        )

    def table(self) -> "pl.DataFrame":
        """Return the predicted steps of batch sizes, as multiples of the fewest."""
        return frame(self._report.content()["predicted"])

    def _shown(self) -> Shown:
        from scalewise.noise.noise_tables import noise_table, predicted_steps_table

        guess = "The noise scale is a cheap guess at the critical batch size, and often wrong: measure it with a study."
        return Shown("Gradient noise scale", [guess], [noise_table(self._report), predicted_steps_table(self._report)])

    def __repr__(self) -> str:
        found = self.noise_scale
        ends = interval(number(found.low), number(found.high))
        return f"<Noise: {number(found.value) or 'unknown'} examples{ends and f' ({ends})'}>"


def noise(
    workload: AnyWorkload,
    *,
    steps: int = 200,
    recipe: Recipe = None,
    settings: Settings = (),
    workers: int = 1,
    out: str | PathLike[str] | None = None,
) -> Noise:
    """Train briefly and predict, from the gradient noise scale, which batch sizes pay.

    Args:
        workload: An object or a name, as in `sw.train`.
        steps: How many steps to train.
        recipe: Settings of the recipe, presets or a YAML file.
        settings: Any other settings, by `section.key`.
        workers: Training processes on this machine.
        out: Keep the run in this folder; by default nothing is kept.

    >>> import scalewise as sw
    >>> found = sw.noise("digits/fc_32", steps=8)
    >>> found.noise_scale.steps, found.windows["until_step"].to_list()
    (2, [2, 4, 6, 8])
    """
    from scalewise.noise.noise import measure_noise  # and torch

    with named(workload) as name, raised_here():
        request = NoiseRequest(
            workload=name,
            steps=steps,
            overrides=all_overrides(recipe, settings),
            workers=workers,
            out=None if out is None else Path(out),
        )
        return Noise(measure_noise(request))
