"""The section of a plan: the fastest cluster, the cheapest, and the frontier between them."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from scalewise.figures.figure import Figure
from scalewise.figures.table import Table
from scalewise.plan.overview import CHOICES, Offer, Overview, ScalingCurve
from scalewise.plan.plan_charts import frontier_figure, scaling_figure, where
from scalewise.plan.plan_tables import candidates_table, choices_table, scaling_table, size_table
from scalewise.report.origin import origin_of
from scalewise.report.section import NEW, Section
from scalewise.report.values import Facts, read_facts
from scalewise.requests import PlanRequest, command_line
from scalewise.words import duration, money, sentence

FILE = "plan.json"


def plan_sections(folder: Path) -> list[Section]:
    """Read a folder of a plan."""
    facts = read_facts(folder / FILE)
    plan, asked = _overview(facts), facts.part("asked")
    return [
        Section(
            kind="Plan",
            title=asked.text("workload") or "time and cost to the target",
            folder=folder,
            answer=_answer(facts, plan),
            asked=_asked(asked, plan.currency),
            figures=_figures(plan),
            tables=_tables(plan),
            methods=[*_METHODS, *map(sentence, facts.texts("left_out"))],
            commands=_commands(facts),
            origin=origin_of(facts),
        )
    ]


_METHODS = (
    "Time to target is steps to target, which the batch and the recipe decide, times seconds per step, which the batch "
    "and the cluster decide. Cost is that time times the price of the cluster.",
    "A point is on the frontier when no other one is both faster and cheaper. Open marks are predicted from points "
    "that were measured; reliability is the share of runs that reached the target.",
)


def _overview(facts: Facts) -> Overview:
    """Read what is shown of a plan; what has no time is not an offer."""
    choices = {name: _offer(facts.part(name)) for name in CHOICES}
    return Overview(
        facts.text("currency") or None,
        {name: offer for name, offer in choices.items() if offer is not None},
        _offers(facts.each("frontier")),
        _offers(facts.each("candidates")),
        [_curve(one) for one in facts.each("scaling")],
    )


def _curve(facts: Facts) -> ScalingCurve:
    offers = [dataclasses.replace(offer, cluster=facts.text("cluster")) for offer in _offers(facts.each("points"))]
    return ScalingCurve(
        facts.text("cluster"), sorted(offers, key=lambda offer: offer.workers), facts.whole("worth_up_to")
    )


def _offers(points: Sequence[Facts]) -> list[Offer]:
    return [offer for offer in map(_offer, points) if offer is not None]


def _offer(point: Facts) -> Offer | None:
    hours, workers = point.number("hours"), point.whole("workers")
    if hours is None or not workers:
        return None
    return Offer(
        cluster=point.text("cluster"),
        workers=workers,
        hours=hours,
        nodes=point.whole("nodes"),
        global_batch=point.whole("global_batch"),
        learning_rate=point.number("learning_rate"),
        steps=point.number("steps"),
        step_seconds=point.number("step_seconds"),
        low_hours=point.number("low_hours"),
        high_hours=point.number("high_hours"),
        cost=point.number("cost"),
        reliability=point.number("reliability"),
        runs=point.whole("runs"),
        predicted=point.truth("predicted"),
        accuracy=point.number("accuracy"),
    )


def _answer(facts: Facts, plan: Overview) -> list[str]:
    names = {offer.cluster for offer in plan.candidates} - {""}
    said = [sentence(text, names) for text in facts.texts("says")]
    chosen = [_choice_sentence(CHOICES[name], offer, plan.currency) for name, offer in plan.choices.items()]
    return said or chosen or ["Nothing is possible."]


def _choice_sentence(word: str, offer: Offer, currency: str | None) -> str:
    cost = money(offer.cost, currency)
    return f"The {word} is {where(offer)}: {duration(offer.hours)}{cost and f' for {cost}'}."


def _asked(asked: Facts, currency: str | None) -> dict[str, str]:
    """Return what was asked for, with units."""
    units = {"deadline": duration(asked.number("deadline")), "budget": money(asked.number("budget"), currency)}
    return {**asked.shown(), **{name: text for name, text in units.items() if text}}


def _figures(plan: Overview) -> list[Figure]:
    return [figure for figure in (frontier_figure(plan), scaling_figure(plan)) if figure is not None]


def _tables(plan: Overview) -> list[Table]:
    tables = (choices_table(plan), size_table(plan), candidates_table(plan), scaling_table(plan))
    return [table for table in tables if table.rows]


def _commands(facts: Facts) -> list[str]:
    """Return how to plan again, and how to train as each choice says."""
    asked = facts.part("asked")
    again = [command_line(_request(asked))] if asked.text("clusters") else []
    return [*again, *dict.fromkeys(text for name in CHOICES if (text := facts.part(name).text("command")))]


def _request(asked: Facts) -> PlanRequest:
    return PlanRequest(
        clusters=Path(asked.text("clusters")),
        study=_path(asked, "study"),
        steps=_path(asked, "steps"),
        bench=_path(asked, "bench"),
        throughput=_path(asked, "throughput"),
        target=asked.text("target") or None,
        deadline_hours=asked.number("deadline"),
        budget=asked.number("budget"),
        reliability=asked.number("reliability") or PlanRequest.reliability,
        only=tuple(name.strip() for name in asked.text("only").split(",")) if asked.text("only") else PlanRequest.only,
        out=NEW,
    )


def _path(asked: Facts, name: str) -> Path | None:
    return Path(asked.text(name)) if asked.text(name) else None
