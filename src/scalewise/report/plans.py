"""The section of a plan: the fastest cluster, the cheapest, and the frontier between them."""

from pathlib import Path

from scalewise.figures.figure import Figure
from scalewise.figures.table import Table
from scalewise.plan.plan_charts import frontier_figure, scaling_figure, where
from scalewise.plan.plan_tables import candidates_table, choices_table, scaling_table, size_table
from scalewise.record.results.plan import CHOICES, Offer, PlanAsked, PlanFile
from scalewise.report.section import NEW, ReportSection
from scalewise.report.values import shown
from scalewise.requests import command_line
from scalewise.words import duration, money, sentence


def plan_sections(folder: Path) -> list[ReportSection]:
    """Read a folder of a plan."""
    return [plan_section(PlanFile.read(folder), folder)]


def plan_section(plan: PlanFile, folder: Path) -> ReportSection:
    """Return what a plan says."""
    return ReportSection(
        kind="Plan",
        title=(plan.asked and plan.asked.workload) or "time and cost to the target",
        folder=folder,
        answer=_answer(plan),
        asked={} if plan.asked is None else _asked(plan.asked, plan.currency),
        figures=_figures(plan),
        tables=_tables(plan),
        methods=[*_METHODS, *map(sentence, plan.left_out)],
        commands=_commands(plan),
    )


_METHODS = (
    "Time to target is steps to target, which the batch and the recipe decide, times seconds per step, which the batch "
    "and the cluster decide. Cost is that time times the price of the cluster.",
    "A point is on the frontier when no other one is both faster and cheaper. Open marks are predicted from points "
    "that were measured; reliability is the share of runs that reached the target.",
)


def _answer(plan: PlanFile) -> list[str]:
    names = {offer.cluster for offer in plan.candidates} - {""}
    said = [sentence(text, names) for text in plan.says]
    chosen = [_choice_sentence(CHOICES[name], offer, plan.currency) for name, offer in plan.choices.items()]
    return said or chosen or ["There is no choice within the limits."]


def _choice_sentence(word: str, offer: Offer, currency: str | None) -> str:
    cost = money(offer.cost, currency)
    return f"The {word} is {where(offer)}: {duration(offer.hours)}{cost and f' for {cost}'}."


def _asked(asked: PlanAsked, currency: str | None) -> dict[str, str]:
    """Return what was asked for, with units."""
    units = {"deadline": duration(asked.deadline), "budget": money(asked.budget, currency)}
    return {**shown(asked.model_dump()), **{name: text for name, text in units.items() if text}}


def _figures(plan: PlanFile) -> list[Figure]:
    return [figure for figure in (frontier_figure(plan), scaling_figure(plan)) if figure is not None]


def _tables(plan: PlanFile) -> list[Table]:
    tables = (choices_table(plan), size_table(plan), candidates_table(plan), scaling_table(plan))
    return [table for table in tables if table.rows]


def _commands(plan: PlanFile) -> list[str]:
    """Return how to plan again, and how to train as each choice says."""
    again = [] if plan.asked is None else [command_line(plan.asked.request(NEW))]
    return [*again, *dict.fromkeys(choice.command for choice in plan.choices.values() if choice.command)]
