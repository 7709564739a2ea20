"""The tables of a plan: the choices, the best on every size, all candidates, and time and cost against workers."""

from collections.abc import Iterable, Sequence

from scalewise.figures.table import Table, numbers, texts
from scalewise.plan.plan_charts import MANY_OFFERS, some
from scalewise.plan.sentences import reach
from scalewise.record.results.plan import Offer, PlanFile
from scalewise.words import duration, durations, money, number


def choices_table(plan: PlanFile) -> Table:
    """Return one row per choice, and the rest of the frontier."""
    chosen = {offer.key for _, offer in plan.named_choices}
    rows = [*plan.named_choices, *(("frontier", offer) for offer in plan.frontier if offer.key not in chosen)]
    leading = [([word, offer.cluster], offer) for word, offer in rows]
    return _table("The choices and the frontier", ("choice", "cluster"), leading, plan.currency)


def size_table(plan: PlanFile) -> Table:
    """Return the fastest candidate on every size of every cluster."""
    best: dict[tuple[object, ...], Offer] = {}
    for one in plan.candidates:
        place = (one.cluster, one.nodes, one.workers)
        if place not in best or _order(one) < _order(best[place]):
            best[place] = one
    rows = [([one.cluster], one) for one in best.values()]
    return _table("The fastest on every size", ("cluster",), rows, plan.currency)


def candidates_table(plan: PlanFile) -> Table:
    """Return all candidates or, if there are very many, some of them."""
    count, shown = len(plan.candidates), some(plan.candidates)
    every = -(-count // MANY_OFFERS)
    title = "All candidates" if every <= 1 else f"Every {every}th of {count:,} candidates"
    return _table(title, ("cluster",), [([offer.cluster], offer) for offer in shown], plan.currency)


def scaling_table(plan: PlanFile) -> Table:
    """Return time and cost against workers."""
    rows = [
        [
            curve.cluster,
            f"{offer.workers:,}",
            number(offer.global_batch),
            duration(offer.hours),
            durations(offer.low_hours, offer.high_hours),
            money(offer.cost),
            _origin(offer),
        ]
        for curve in plan.scaling
        for offer in curve.points
    ]
    names = numbers("workers", "batch", "time", "interval", _cost_name(plan.currency))
    return Table("Time and cost against workers", [*texts("cluster"), *names, *texts("")], rows)


def _table(title: str, leading: Sequence[str], rows: Iterable[tuple[list[str], Offer]], currency: str | None) -> Table:
    """Lay rows out; there is a column for accuracies only if some are known."""
    rows = list(rows)
    accuracy = any(offer.accuracy is not None for _, offer in rows)
    names = ["nodes", "workers", "batch", "rate", "steps", "s/step", "time", "interval", _cost_name(currency)]
    columns = [*texts(*leading), *numbers(*names, "reach target", *(["accuracy"] if accuracy else [])), *texts("")]
    return Table(title, columns, [[*cells, *_cells(offer, accuracy)] for cells, offer in rows])


def _cells(offer: Offer, accuracy: bool) -> list[str]:
    return [
        number(offer.nodes),
        f"{offer.workers:,}",
        number(offer.global_batch),
        "" if offer.learning_rate is None else f"{offer.learning_rate:.3g}",
        "" if offer.steps is None else f"{offer.steps:,.0f}",
        "" if offer.step_seconds is None else f"{offer.step_seconds:.3g}",
        duration(offer.hours),
        durations(offer.low_hours, offer.high_hours),
        money(offer.cost),
        reach(offer.reliability, offer.runs),
        *([number(offer.accuracy)] if accuracy else []),
        _origin(offer),
    ]


def _cost_name(currency: str | None) -> str:
    return f"cost, {currency}" if currency else "cost"


def _origin(offer: Offer) -> str:
    return "predicted" if offer.predicted else "measured"


def _order(offer: Offer) -> tuple[float, float, float]:
    """Put the fastest first; at equal times the one that costs less, or is more accurate."""
    return offer.hours, offer.cost or 0.0, -(offer.accuracy or 0.0)
