"""`sw.plan`, and the plan that it returns."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from scalewise.api.analyzing import Analysis, Curve, steps_given
from scalewise.api.predicting import bench_folder
from scalewise.api.result import FolderResult
from scalewise.api.tables import Files, TableLike, files, frame
from scalewise.errors import ConfigError, FolderError
from scalewise.record.results.plan import CHOICES, Choice, PlanAsked, PlanFile
from scalewise.requests import PlanRequest
from scalewise.storage import write_result
from scalewise.words import counted, duration, money

if TYPE_CHECKING:
    import polars as pl

    from scalewise.plan.plan import Plan as Made
    from scalewise.report.section import ReportSection

_IN_MEMORY = Path("in memory")


class Plan(FolderResult):
    """What there is to choose from, and what is recommended. `Plan("runs/plan")` opens one that was made before."""

    def __init__(
        self,
        path: str | PathLike[str],
        file: PlanFile | None = None,
        recipes: Mapping[str, str] | None = None,
        tables: Mapping[str, bytes] | None = None,
    ) -> None:
        super().__init__(path)
        self.file = PlanFile.read(self.path) if file is None else file
        """All of it."""
        self._recipes, self._tables = recipes or {}, tables or {}

    @property
    def in_memory(self) -> bool:
        """Whether it lies in no folder."""
        return self.path == _IN_MEMORY

    @property
    def fastest(self) -> Choice | None:
        """The fastest: its cluster, workers, batch, `hours` and `cost`."""
        return self.file.fastest

    @property
    def cheapest(self) -> Choice | None:
        """The cheapest."""
        return self.file.cheapest

    @property
    def fastest_within_budget(self) -> Choice | None:
        """The fastest that costs no more than the budget; None: there is none, or no budget was given."""
        return self.file.fastest_within_budget

    @property
    def cheapest_within_deadline(self) -> Choice | None:
        """The cheapest that takes no longer than the deadline; None: there is none, or no deadline was given."""
        return self.file.cheapest_within_deadline

    def recipe(self, choice: str = "fastest") -> dict[str, Any]:
        """Return the recipe of a choice, which `sw.train` takes as it is."""
        if choice not in CHOICES or (chosen := self.file.choices.get(choice)) is None:
            raise ConfigError(f"the plan has no choice {choice!r}; there are {', '.join(self.file.choices) or 'none'}")
        written = self._recipes.get(choice)
        if written is None:
            if chosen.recipe is None or not Path(chosen.recipe).is_file():
                raise FolderError(f"the recipe of {choice!r} is not where the plan has put it, {chosen.recipe}")
            written = Path(chosen.recipe).read_text(encoding="utf-8")
        content = dict(yaml.safe_load(written))
        content.pop("workload", None)
        return content

    @property
    def frontier(self) -> "pl.DataFrame":
        """What nothing else beats in both time and cost."""
        return frame(self.file.frontier)

    def table(self) -> "pl.DataFrame":
        """Return all candidates, one to a row."""
        return frame(self.file.candidates)

    def save(self, folder: str | PathLike[str]) -> "Plan":
        """Keep a plan that lies in memory in a folder, with the tables that it was made of; return it from there."""
        for name, content in self._tables.items():
            write_result(Path(folder) / name, content)
        kept = {Path(name): Path(folder) / name for name in self._tables}
        file = self.file.model_copy(update={"asked": _asked_with(self.file.asked, kept)})
        file.write(Path(folder))
        return Plan(folder, file, self._recipes)

    def _sections(self) -> "list[ReportSection]":
        from scalewise.report.plans import plan_section

        return [plan_section(self.file, self.path)]

    def __repr__(self) -> str:
        named = "; ".join(
            f"{word}: {counted(offer.workers, 'worker')} of {offer.cluster}, {duration(offer.hours)}"
            f"{'' if offer.cost is None else f' for {money(offer.cost, self.file.currency)}'}"
            for word, offer in self.file.named_choices
        )
        return f"<Plan{'' if self.in_memory else f' {self.path}'}: {named}>"


def plan(
    *,
    steps: "FolderResult | Curve | Analysis | TableLike",
    speed: "FolderResult | TableLike",
    clusters: TableLike,
    target: str | None = None,
    deadline_hours: float | None = None,
    budget: float | None = None,
    reliability: float = PlanRequest.reliability,
    only: Sequence[str] | str = (),
    out: str | PathLike[str] | None = None,
) -> Plan:
    """Find the fastest and the cheapest cluster, and everything worth having between.

    Args:
        steps: A study, its folder or its curve; or the steps of runs from anywhere, as `sw.analyze` takes them.
        speed: A bench or its folder; or speeds from anywhere, as `sw.predict` takes them.
        clusters: A YAML file of clusters, or a list of dictionaries, each with a `name` and whatever is known of
            `nodes`, `workers_per_node`, `price_per_hour`, `currency` and so on.
        target: By default the study's own.
        deadline_hours: How long training may take.
        budget: How much training may cost.
        reliability: Share of the runs that must reach the target, from 0 to 1.
        only: Plan only for the clusters of these names.
        out: Folder for plan.json, pictures and recipes; by default nothing is written.

    >>> import scalewise as sw
    >>> planned = sw.plan(
    ...     steps=[{"global_batch": b, "steps": 1000 + 64_000 / b, "reached": True} for b in (64, 256, 1024)],
    ...     speed=[{"cluster": "c", "workers": n, "global_batch": 64 * n, "step_seconds": 0.2} for n in (1, 4, 16)],
    ...     clusters=[{"name": "c", "nodes": "1..16", "price_per_hour": 1.0, "currency": "EUR"}],
    ...     deadline_hours=1,
    ... )
    >>> planned
    <Plan: fastest: 16 workers of c, ...; cheapest and cheapest within the deadline: 1 worker of c, ...>
    >>> planned.recipe("fastest")["recipe"]["global_batch"]
    256
    """
    from scalewise.plan.plan import multiply
    from scalewise.plan.plan import plan as plan_and_write
    from scalewise.record.throughput import FILE_NAME

    folder = None if out is None else Path(out)
    given, bench = steps_given(steps), bench_folder(speed)
    with files(folder) as tables:
        request = PlanRequest(
            clusters=tables.clusters("clusters.yaml", clusters),
            study=given.study,
            steps=None if given.study is not None else tables.table("steps.csv", given.table),
            bench=bench,
            throughput=None if bench is not None else tables.table(FILE_NAME, speed),
            target=target or (steps.target if isinstance(steps, Curve | Analysis) and given.study else None),
            deadline_hours=deadline_hours,
            budget=budget,
            reliability=reliability,
            only=(only,) if isinstance(only, str) else tuple(only),
            out=folder or PlanRequest.out,
        )
        if folder is not None:
            plan_and_write(request)
            return Plan(folder)
        return _in_memory(multiply(request), tables)


def _in_memory(made: "Made", tables: Files) -> Plan:
    """Keep a plan without a folder, and the tables that it was made of by their names alone."""
    from scalewise.plan.recipes import recipe_of

    names = {tables.folder / name: Path(name) for name in tables.written}
    file = made.file.model_copy(update={"asked": _asked_with(made.file.asked, names)})
    recipes = {name: recipe_of(one, made.source) for name, one in made.choices.items() if one is not None}
    return Plan(_IN_MEMORY, file, recipes, tables.written)


def _asked_with(asked: PlanAsked | None, others: Mapping[Path, Path]) -> PlanAsked | None:
    """Name other files in place of some."""
    if asked is None:
        return None
    return asked.model_copy(update={name: others[value] for name, value in asked if value in others})
