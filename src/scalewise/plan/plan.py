"""The plan from its files to the choices, the frontier, the pictures and the recipes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scalewise.errors import ConfigError
from scalewise.plan.bench_folder import read_bench
from scalewise.plan.candidates import Candidate, candidates, cheapest, fastest, frontier
from scalewise.plan.clusters import SizedCluster, read_clusters
from scalewise.plan.plan_charts import frontier_figure, scaling_figure
from scalewise.plan.recipes import Recommendation, write_recommendation
from scalewise.plan.scaling_out import Scaling, scaling
from scalewise.plan.sentences import choice_sentences, left_out, scaling_sentences, unstable_sentence
from scalewise.plan.speeds import Speeds
from scalewise.plan.statistics import Statistic
from scalewise.plan.steps_source import StepsSource, steps_from_file, steps_from_study
from scalewise.record.results.plan import Choice, PlanAsked, PlanFile
from scalewise.record.throughput import read_throughput
from scalewise.requests import PlanRequest
from scalewise.storage import write_result
from scalewise.words import percent


@dataclass(frozen=True)
class Plan:
    """What was found."""

    request: PlanRequest
    source: StepsSource
    currency: str | None
    candidates: list[Candidate]
    scaling: list[Scaling]
    left_out: list[str]
    recommended: list[Recommendation] = field(default_factory=list)

    @cached_property
    def frontier(self) -> list[Candidate]:
        """The candidates that no other beats in both time and cost."""
        return frontier(self.candidates)

    @cached_property
    def choices(self) -> dict[str, Candidate | None]:
        """What is recommended for each goal; None if nothing is within the limits."""
        offered = self.recommendable
        choices = {"fastest": fastest(offered), "cheapest": cheapest(offered)}
        if self.request.budget is not None:
            choices["fastest_within_budget"] = fastest(offered, self.request.budget)
        if self.request.deadline_hours is not None:
            choices["cheapest_within_deadline"] = cheapest(offered, self.request.deadline_hours)
        return choices

    @cached_property
    def recommendable(self) -> list[Candidate]:
        """What may be recommended: the best trial of a study only if nothing is known about typical runs."""
        typical = [one for one in self.candidates if one.statistic.best_of is None]
        return typical or self.candidates

    @cached_property
    def says(self) -> list[str]:
        """What is recommended, what is not although it looked good, and how far more workers pay off, in sentences."""
        return [*self.says_of_choices, *self.says_of_unstable, *scaling_sentences(self.scaling)]

    @property
    def says_of_choices(self) -> list[str]:
        """What is recommended, in sentences."""
        return choice_sentences(self.choices, self.currency)

    @property
    def says_of_unstable(self) -> list[str]:
        """What failed with fresh seeds, in sentences."""
        return [unstable_sentence(one) for one in self.source.unstable]

    @cached_property
    def file(self) -> PlanFile:
        """The value that is written, printed, drawn and tabulated; it needs the recipes of the recommendations."""
        chosen = {name: None if choice is None else self._choice(name, choice) for name, choice in self.choices.items()}
        return PlanFile(
            asked=PlanAsked.of(self.request, self.source.settings.get("workload")),
            currency=self.currency,
            **chosen,
            frontier=tuple(one.offer for one in self.frontier),
            candidates=tuple(one.offer for one in self.candidates),
            scaling=tuple(curve.curve for curve in self.scaling),
            says=tuple(self.says),
            left_out=tuple(self.left_out),
        )

    def _choice(self, name: str, candidate: Candidate) -> Choice:
        offer = vars(candidate.offer)
        found = [one for one in self.recommended if one.name == name]
        return Choice(**offer, recipe=str(found[0].recipe), command=found[0].command) if found else Choice(**offer)


def plan(request: PlanRequest) -> Plan:
    """Multiply steps by seconds, choose, draw and write."""
    planned = multiply(request)
    for name, choice in planned.choices.items():
        if choice is not None:
            planned.recommended.append(write_recommendation(request.out, name, choice, planned.source))
    _draw(request.out, planned.file)
    planned.file.write(request.out)
    return planned


def _draw(out: Path, planned: PlanFile) -> None:
    from scalewise.figures.picture import picture  # loads matplotlib

    figures = {"plan.png": frontier_figure(planned), "scaling.png": scaling_figure(planned)}
    for name, figure in figures.items():
        if figure is not None:
            write_result(out / name, picture(figure.chart))


def multiply(request: PlanRequest) -> Plan:
    """Find all candidates, and write nothing."""
    _check(request)
    clusters = read_clusters(request.clusters, request.only)
    speeds = _speeds(request)
    source = _steps(request)
    known = [one for one in _known(source, speeds) if _reliable(one, request.reliability)]
    if not known:
        raise ConfigError(
            f"no setting is known to reach the target in {percent(request.reliability)} of its runs; "
            "the reliability of a setting that ran once is unknown"
        )
    missing: dict[SizedCluster, str] = {}
    found = candidates(clusters, known, speeds, missing)
    if not found:
        raise ConfigError(left_out(missing)[0].removesuffix("."))
    curves = [scaling(cluster, known, speeds) for cluster in _largest_of_each(clusters)]
    currency = next((cluster.currency for cluster in clusters if cluster.currency), None)
    return Plan(request, source, currency, found, curves, left_out(missing))


def _reliable(statistic: Statistic, wanted: float) -> bool:
    return wanted == 0 or (statistic.reliability is not None and statistic.reliability >= wanted)


def _check(request: PlanRequest) -> None:
    if (request.study is None) == (request.steps is None):
        raise ConfigError("plan needs either --study with a folder or --steps with a steps.csv")
    if (request.bench is None) == (request.throughput is None):
        raise ConfigError("plan needs either --bench with a folder or --throughput with a throughput.csv")
    for option, value in (("--deadline", request.deadline_hours), ("--budget", request.budget)):
        if value is not None and not value > 0:
            raise ConfigError(f"{option} {value:g} must be greater than 0")
    if not 0 <= request.reliability <= 1:
        raise ConfigError(f"--reliability {request.reliability:g} must be between 0 and 1")


def _speeds(request: PlanRequest) -> Speeds:
    if request.throughput is not None:
        return Speeds(read_throughput(request.throughput))
    assert request.bench is not None
    points, network = read_bench(request.bench)
    return Speeds(points, network)


def _steps(request: PlanRequest) -> StepsSource:
    if request.steps is not None:
        return steps_from_file(request.steps)
    assert request.study is not None
    return steps_from_study(request.study, request.target)


def _known(source: StepsSource, speeds: Speeds) -> list[Statistic]:
    """Return all measured statistics, and those between them at sizes that are usual or whose speed was measured."""
    usual = [2**power for power in range(21)]
    return [*source.statistics.known, *source.statistics.between([*usual, *speeds.batches])]


def _largest_of_each(clusters: Sequence[SizedCluster]) -> list[SizedCluster]:
    """Return the cluster with the largest nodes for every kind of speed; more workers are then more such nodes."""
    ordered = sorted(clusters, key=lambda cluster: cluster.workers_per_node)
    return list({cluster.speed: cluster for cluster in ordered}.values())
