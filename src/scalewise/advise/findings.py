"""What advice says, in a few plain sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalewise.analysis.critical import NoFit
from scalewise.analysis.curve import StepsCurve
from scalewise.errors import DataError, UserError
from scalewise.loop.stopping import Reason
from scalewise.noise.noise import latest_noise_scale
from scalewise.plan.candidates import Candidate
from scalewise.plan.plan import Plan
from scalewise.plan.sentences import unstable_sentence
from scalewise.plan.statistics import Statistic
from scalewise.plan.steps_source import Unstable
from scalewise.record.folder import RunFolder
from scalewise.record.results.bench import BenchFile
from scalewise.record.results.noise import MeasuredNoise
from scalewise.record.results.run import RunMetadata
from scalewise.record.throughput import Throughput, throughput_in
from scalewise.words import counted, duration

_WORTH_IT = 1.1
"""How much faster all cores must be than one to be worth it."""


@dataclass(frozen=True)
class Speed:
    """What the bench found."""

    points: list[Throughput]
    verdicts: dict[tuple[int, int], str]
    """Where the time goes, by the number of workers and the global batch."""

    @classmethod
    def read(cls, folder: Path) -> "Speed":
        """Read it back from its folder."""
        try:
            measured = BenchFile.read(folder).breakdown
            verdicts = {(point.workers, point.global_batch): point.verdict for point in measured}
            if not verdicts:
                raise DataError(f"in {folder} nothing was measured")
            return cls(throughput_in(folder), verdicts)
        except UserError as error:
            raise DataError(f"{error}; remove {folder}, then run the same command again") from None

    def speedup(self) -> tuple[Throughput, Throughput, float]:
        """Return one worker and the most, at the most examples each, and how much faster they are."""
        largest = max(point.examples_per_worker for point in self.points)
        line = sorted(
            (point for point in self.points if point.examples_per_worker == largest), key=lambda point: point.workers
        )
        return line[0], line[-1], line[-1].examples_per_second / line[0].examples_per_second

    def where_time_goes(self, global_batch: int | None) -> str:
        """Say it for the most workers, at the measured batch nearest to this one, or at the largest batch.

        >>> Speed([], {(1, 64): "good", (2, 128): "bad", (2, 1024): "better"}).where_time_goes(100)
        'Where the time goes: with 2 workers and batch 128 training is bad.'
        """
        most = max(workers for workers, _ in self.verdicts)
        batches = [batch for workers, batch in self.verdicts if workers == most]
        nearest = min(batches, key=lambda batch: abs(math.log(batch / (global_batch or max(batches)))))
        place = f"{counted(most, 'worker')} and batch {nearest:,}"
        return f"Where the time goes: with {place} training is {self.verdicts[most, nearest]}."

    def slowest(self) -> float:
        """Return the fewest examples per second on the most workers."""
        most = max(point.workers for point in self.points)
        return min(point.examples_per_second for point in self.points if point.workers == most)


@dataclass(frozen=True)
class Findings:
    """All that was found."""

    pilot: RunFolder
    speed: Speed
    study_hours: float
    """How long the first study takes, if racing saves nothing."""
    curve: StepsCurve | None
    """None if no batch size was studied to its end, or none reached the target."""
    plan: Plan | None
    unstable: Sequence[Unstable] = ()
    """Settings that looked best, and mostly failed with fresh seeds."""

    def sentences(self) -> list[str]:
        """Say what to do: batch and rate, workers, where the time goes, clusters."""
        best = self._best()
        said = [self._critical(), *self._recipe(best), *self._workers()]
        said.append(self.speed.where_time_goes(None if best is None else best.global_batch))
        said += [unstable_sentence(one) for one in self.unstable]
        return said if self.plan is None else [*said, *self.plan.says_of_choices]

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "says": self.sentences(),
            "analysis": None if self.curve is None else self.curve.analysed().model_dump(mode="json"),
            "plan": None if self.plan is None else self.plan.file.plain(),
        }

    def _critical(self) -> str:
        noise = latest_noise_scale(self.pilot)
        guess = "" if noise is None or noise.value is None else f" (the noise scale alone suggests {noise.value:,.0f})"
        if self.curve is None:
            return (
                f"Critical batch size: unknown, because no batch size was studied until it reached the target{guess}. "
                f"Allow more --minutes: a first study takes up to about {duration(self.study_hours)}."
            )
        fit = self.curve.fit
        if isinstance(fit, NoFit) or fit.low is None or fit.high is None:
            return f"Critical batch size: {fit.says}{guess}."
        return (
            f"Critical batch size: {fit.value:,.0f} ({fit.low:,.0f} to {fit.high:,.0f}). Well below it, twice the "
            f"batch needs half the steps; well above it, a larger batch saves few steps{guess}."
        )

    def _best(self) -> Statistic | None:
        """Return the batch and the rate that are the fastest on this machine, of those that were tried."""
        here = [one for one in self._here() if not one.statistic.predicted]
        return min(here, key=lambda one: one.hours).statistic if here else None

    def _recipe(self, best: Statistic | None) -> list[str]:
        if best is None or self.plan is None:
            held = (
                "Use: nothing yet, because no setting reached the target again with fresh seeds; allow more --minutes."
            )
            return [held] if self.unstable else []
        settings = self.plan.source.trials.get(best.global_batch, {})
        words = [f"a {name.replace('_', ' ')} of {value:.3g}" for name, value in settings.items() if name != "seed"]
        recipe = _listed([f"a batch of {best.global_batch:,}", *words])
        return [f"Use {recipe}: about {best.steps:,.0f} steps to the target; {_confirmed(best)}."]

    def _workers(self) -> list[str]:
        """Say how many workers of this machine are worth it, each with its best batch."""
        best: dict[int, float] = {}
        for one in self._here():
            best[one.cluster.workers] = min(one.hours, best.get(one.cluster.workers, one.hours))
        if len(best) < 2:
            return []
        fewest, most = min(best), max(best)
        times = f"{duration(best[most])} with {most} against {duration(best[fewest])} with {fewest}"
        if best[most] * _WORTH_IT <= best[fewest]:
            return [f"Workers: {most} are worth it on this machine: {times}."]
        return [f"Workers: {most} are not worth it on this machine: {times}."]

    def _here(self) -> list[Candidate]:
        """Return what may be recommended for this machine itself."""
        known = [] if self.plan is None else self.plan.recommendable
        return [one for one in known if one.cluster.link is None and one.cluster.speed == one.cluster.name]


def _listed(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _confirmed(best: Statistic) -> str:
    """Say what the number of steps is based on."""
    if best.best_of is not None or best.reliability is None:
        return (
            f"that is the best of {best.best_of} trials and may have been lucky: there was no time to train it again "
            "with fresh seeds, and it may take longer or fail"
        )
    reached = round(best.reliability * best.runs)
    steps = f"{best.fewest:,.0f} to {best.most:,.0f}" if best.fewest != best.most else f"{best.most:,.0f}"
    return f"{reached} of {best.runs} fresh seeds reached it, after {steps} steps"


def pilot_sentence(pilot: RunMetadata, noise: MeasuredNoise | None) -> str:
    """Say how the pilot ended."""
    ended = "reached the target" if pilot.stopped_by is Reason.TARGET else "did not reach the target in its time"
    scale = "" if noise is None or noise.value is None else f"; gradient noise scale {noise.value:,.0f}"
    batch = pilot.examples / max(1, pilot.steps)
    return f"        {ended} after {pilot.steps:,} steps of batch {batch:,.0f}{scale}"


def speed_sentence(speed: Speed) -> str:
    """Say how fast training is."""
    one, most, speedup = speed.speedup()
    several = "" if most is one else f"; {most.workers} workers: {speedup:.2f} times that"
    return f"        one worker: {one.examples_per_second:,.0f} examples/s{several}"
