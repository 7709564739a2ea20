"""Advice from its parts: a pilot run, a bench, a raced study, a plan and a report, within so many minutes."""

import signal
import time
from collections.abc import Callable, Sequence

from rich.console import Console

from scalewise.advise.findings import Findings, Speed, pilot_sentence, speed_sentence
from scalewise.advise.sample import write_sample_clusters
from scalewise.analysis.analyze import analyze
from scalewise.analysis.curve import StepsCurve
from scalewise.bench.bench import bench
from scalewise.cluster.signals import stop_signals_go_to
from scalewise.cluster.world import usable_cores
from scalewise.config import differences
from scalewise.errors import ConfigError, DataError, FolderError, Interrupted
from scalewise.loop.stopping import Reason
from scalewise.noise.noise import latest_noise_scale
from scalewise.plan.candidates import cheapest, fastest
from scalewise.plan.clusters import read_clusters
from scalewise.plan.plan import Plan, multiply, plan
from scalewise.plan.steps_source import NothingHeld, Unstable
from scalewise.record.folder import RunFolder
from scalewise.record.results.advise import AdviseFile
from scalewise.record.results.bench import BenchFile
from scalewise.record.results.run import RunMetadata
from scalewise.report.report import report
from scalewise.requests import (
    AdviseRequest,
    AnalyzeRequest,
    BenchRequest,
    PlanRequest,
    ReportRequest,
    StudyRequest,
    TrainRequest,
)
from scalewise.run.train import train_part
from scalewise.study.batch_plan import plan_study
from scalewise.study.confirm import FRESH_RUNS, Setting, confirm
from scalewise.study.study import study
from scalewise.workloads.find import find_workload
from scalewise.workloads.loading import load_splits

CLUSTER = "this machine"
"""What the bench calls the machine that it runs on."""

_FEW_SIZES, _MORE_SIZES = (8, 32, 128, 512), (16, 64, 256, 1024)
_STUDIES = ((_FEW_SIZES, 5), (_MORE_SIZES, 5), *(((*_FEW_SIZES, *_MORE_SIZES), trials) for trials in (10, 20, 40)))
"""Batch sizes and trials at each, one after the other as long as there is time: a few first, then those between."""
_EXAMPLES_PER_WORKER = (16, 64, 256, 512)
"""With one and with two workers, these give most of the batch sizes, so that little has to be predicted."""
_LONGER = 6.0
"""How many times the epochs of the pilot a trial may take: large batches need more of them."""
_LEAST_EPOCHS = 2.0
_PILOT_SHARE, _BENCH_SHARE = 0.2, 0.015
"""Shares of the time: at most for the pilot, and for each point of the bench."""
_CONFIRM_SHARE = 0.3
"""Share of the time left for the study that is reserved for training the best settings again with fresh seeds."""
_LAST_SECONDS = 10.0
"""What comes after the study takes about this long, whatever was found."""


class Adviser:
    """Runs one part after the other; a part that is already done is skipped."""

    def __init__(self, request: AdviseRequest, console: Console) -> None:
        if not request.minutes > 0:
            raise ConfigError(f"--minutes {request.minutes:g} must be greater than 0")
        if request.clusters is not None:
            read_clusters(request.clusters)  # a mistake is reported before minutes are spent
        self._request = request
        self._console = console
        self._seconds = 60 * request.minutes
        self._deadline = time.monotonic() + self._seconds
        self._train_examples = len(load_splits(find_workload(request.workload))["train"])

    def advise(self) -> Findings:
        """Run all parts."""
        self._check_folder()
        try:
            with stop_signals_go_to(signal.default_int_handler):
                return self._go()
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted("the same command continues the advice") from None

    def _go(self) -> Findings:
        parts: list[tuple[str, Callable[[], None]]] = [
            ("a pilot run with the workload's own recipe", self._pilot),
            ("speed: seconds per step", self._bench),
            ("statistics: steps to target against batch size", self._study),
            ("confirmation: what would be recommended, with fresh seeds", self._confirm),
        ]
        for number, (name, work) in enumerate(parts, start=1):
            self._console.print(f"[bold]{number} of {len(parts) + 1}[/bold]  {name}", highlight=False)
            work()
        self._console.print(f"[bold]{len(parts) + 1} of {len(parts) + 1}[/bold]  plan and report", highlight=False)
        curve = self._curve()
        planned, unstable = (None, []) if curve is None else self._plan()
        findings = Findings(self._pilot_folder, self._speed(), self._study_hours(), curve, planned, unstable)
        self._write(findings.sentences())
        report(ReportRequest(folders=(self._request.out,), out=self._request.out))
        return findings

    def _check_folder(self) -> None:
        """Continue only advice on the same question."""
        out = self._request.out
        if not AdviseFile.is_in(out):
            self._write()
            return
        try:
            there = AdviseFile.read(out)
        except FolderError as error:
            raise FolderError(f"the advice in {out} cannot be read, use another --out: {error}") from None
        if found := differences({name: getattr(there, name) for name in self._asked}, self._asked):
            raise FolderError(f"{out} holds other advice: {'; '.join(found)}; use another --out")

    @property
    def _asked(self) -> dict[str, str | None]:
        """What two starts must have in common."""
        return {"workload": self._request.workload, "target": self._request.target}

    def _write(self, says: Sequence[str] = ()) -> None:
        asked = self._request
        AdviseFile(workload=asked.workload, target=asked.target, says=tuple(says)).write(asked.out)

    def _left(self, reserved_seconds: float = 0.0) -> float:
        return self._deadline - time.monotonic() - _LAST_SECONDS - reserved_seconds

    @property
    def _pilot_folder(self) -> RunFolder:
        return RunFolder(self._request.out / "pilot")

    def _pilot(self) -> None:
        """Train with the workload's own recipe, to see how many epochs the target takes and how noisy gradients are."""
        if not self._pilot_folder.finished():
            target = [] if self._request.target is None else [f"stop.target={self._request.target}"]
            overrides = [*target, f"stop.seconds={_PILOT_SHARE * self._seconds}", "noise_scale.every_steps=1"]
            overrides.append(f"evaluate.every_examples={max(1, self._train_examples // 4)}")
            asked = TrainRequest(
                workload=self._request.workload, overrides=tuple(overrides), workers=1, out=self._pilot_folder.path
            )
            train_part(asked, "the advice")
        noise = latest_noise_scale(self._pilot_folder)
        self._console.print(pilot_sentence(how_it_ended(self._pilot_folder), noise), highlight=False)

    def _bench(self) -> None:
        """Measure one worker, and as many as there are cores."""
        out = self._request.out / "bench"
        if not BenchFile.is_in(out):
            request = BenchRequest(
                workload=self._request.workload,
                workers=tuple(sorted({1, usable_cores()})),
                microbatches=tuple(size for size in _EXAMPLES_PER_WORKER if size <= self._train_examples),
                seconds=_BENCH_SHARE * self._seconds,
                cluster=CLUSTER,
                out=out,
            )
            bench(request)
        self._console.print(speed_sentence(self._speed()), highlight=False)

    def _study(self) -> None:
        """Try a few settings at every batch size, then twice as many, as long as there is time."""
        took, reserved = 0.0, _CONFIRM_SHARE * max(0.0, self._left())
        for sizes, trials in _STUDIES:
            fitting = [size for size in sizes if size <= self._train_examples]
            if not fitting or self._left(reserved) < took:
                continue
            started = time.monotonic()
            self._console.print(f"        {trials} trials at batch {', '.join(map(str, fitting))}", highlight=False)
            deadline = time.monotonic() + self._left(reserved)
            try:
                study(self._study_request(fitting, trials), deadline=deadline)
            except Interrupted:
                if self._left(reserved) > 0:  # by a signal, and not by the time
                    raise
            took = time.monotonic() - started

    def _confirm(self) -> None:
        """Train the best settings again, until the best ones are confirmed or the time is up."""
        while self._left() > 0 and (unsure := self._unconfirmed()):
            names = ", ".join(f"{setting.plan.batch_size:,} (trial {setting.trial_id})" for setting in unsure)
            self._console.print(f"        {FRESH_RUNS} fresh seeds at batch {names}", highlight=False)
            try:
                confirm(unsure, usable_cores(), time.monotonic() + self._left())
            except Interrupted:
                if self._left() > 0:
                    raise

    def _unconfirmed(self) -> list[Setting]:
        """Return the settings that would be recommended and were not trained again yet."""
        if self._curve() is None:
            return []
        try:
            planned = multiply(self._plan_request())
        except NothingHeld:
            return []
        tried = [one for one in planned.candidates if not one.statistic.predicted]
        here = [one for one in tried if one.cluster.speed == one.cluster.name and one.cluster.link is None]
        best = [choice.statistic for choice in (fastest(tried), cheapest(tried), fastest(here)) if choice is not None]
        lucky = sorted({one.global_batch for one in best if one.best_of is not None})
        if not lucky:
            return []
        plans = plan_study(self._study_request(lucky, trials=1))
        settings = [Setting(plan, int(planned.source.trials[plan.batch_size]["seed"])) for plan in plans]
        return [setting for setting in settings if not setting.confirmed()]

    def _study_hours(self) -> float:
        """Return how long the first study takes if racing saves nothing, at the speed of the smallest microbatch."""
        sizes, trials = _STUDIES[0]
        examples = len(sizes) * trials * longest_trial(self._pilot_folder) * self._train_examples
        return examples / self._speed().slowest() / 3600

    def _study_request(self, batch_sizes: Sequence[int], trials: int) -> StudyRequest:
        return StudyRequest(
            workload=self._request.workload,
            batch_sizes=tuple(batch_sizes),
            trials=trials,
            target=self._request.target,
            max_epochs=longest_trial(self._pilot_folder),
            jobs=usable_cores(),
            out=self._request.out / "study",
        )

    def _speed(self) -> Speed:
        return Speed.read(self._request.out / "bench")

    def _curve(self) -> StepsCurve | None:
        """Analyse what the study found; None if the time was too short for it."""
        folder = self._request.out / "study"
        if not folder.is_dir():
            return None
        targets = () if self._request.target is None else (self._request.target,)
        try:
            found = analyze(AnalyzeRequest(folder=folder, targets=targets))
        except DataError:
            return None
        curve = found.workloads[0].curve
        return curve if any(row.steps is not None for row in curve.rows) else None

    def _plan(self) -> tuple[Plan | None, Sequence[Unstable]]:
        """Plan, and also return the settings that failed with fresh seeds; no plan if all of them failed."""
        try:
            planned = plan(self._plan_request())
        except NothingHeld as nothing:
            return None, nothing.unstable
        return planned, planned.source.unstable

    def _plan_request(self) -> PlanRequest:
        out = self._request.out
        clusters = self._request.clusters or write_sample_clusters(out / "clusters.yaml", CLUSTER, usable_cores())
        target = self._request.target
        return PlanRequest(clusters=clusters, study=out / "study", bench=out / "bench", target=target, out=out / "plan")


def longest_trial(pilot: RunFolder) -> float:
    """Return the epochs a trial may take: more than the pilot, or all of its recipe's if the pilot was cut short."""
    ended, own = how_it_ended(pilot), pilot.config().stop.epochs
    epochs = max(_LEAST_EPOCHS, _LONGER * ended.examples / ended.train_examples)
    return max(epochs, own) if ended.stopped_by is Reason.SECONDS and own is not None else epochs


def how_it_ended(pilot: RunFolder) -> RunMetadata:
    """Read what the pilot has recorded."""
    if (metadata := pilot.metadata()) is None:
        raise FolderError(f"{pilot.path} is damaged: remove it, then run the same command again")
    return metadata
