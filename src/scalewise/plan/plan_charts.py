"""The charts of a plan: time against cost, and time and cost against workers."""

from collections.abc import Callable, Sequence

from scalewise.figures.figure import Figure
from scalewise.figures.plot import Axis, Line, Mark, Panels, Plot, Rule, Series, Shape
from scalewise.record.results.plan import Offer, PlanFile, ScalingCurve
from scalewise.words import counted, duration, durations, money, unit_of_money, unit_of_time

WORKERS = Axis("workers", log=True, powers_of_two=True)
_LOG_FROM = 10
"""Values that differ by such a factor need a logarithmic axis."""
_ZERO_IS_NEAR = 0.4
"""An axis begins at zero if the smallest value is a smaller share of the largest than this."""
_MANY_CLUSTERS = 2
"""More of them, with bands and rules, would hide each other."""
MANY_OFFERS = 400
"""How many candidates are shown at most: more would fill a page without showing more."""


def frontier_figure(plan: PlanFile) -> Figure | None:
    """Draw candidates by cost and time: the frontier in colour, what it beats pale."""
    frontier = sorted((offer for offer in plan.frontier if offer.cost is not None), key=_cost)
    if not frontier:
        return None
    on_it = {offer.key for offer in frontier}
    others = [one for one in some([one for one in plan.candidates if one.cost is not None]) if one.key not in on_it]
    shown = [*frontier, *others]
    unit, per_hour = unit_of_time([offer.hours for offer in shown])
    money_unit, runs = unit_of_money([_cost(offer) for offer in shown], plan.currency)

    def mark(offer: Offer, with_interval: bool = False) -> Mark:
        low, high = _ends(offer, per_hour) if with_interval else (None, None)
        return Mark(runs * _cost(offer), per_hour * offer.hours, says(offer, plan.currency), low, high, offer.predicted)

    series = [
        Series("other candidates", tuple(map(mark, others)), None, Line.NONE, pale=True),
        Series("frontier", tuple(mark(offer, with_interval=True) for offer in frontier), 0, Line.STAIRS),
    ]
    chosen = [(word, offer) for word, offer in plan.named_choices if offer.cost is not None]
    series += [
        Series(f"{word}: {where(offer)}", (mark(offer),), colour, Line.NONE)
        for colour, (word, offer) in enumerate(chosen, start=1)
    ]
    x = _axis(_with_unit("expected cost to target", money_unit), [runs * _cost(offer) for offer in shown])
    y = _axis(f"expected time to target, {unit}", [per_hour * offer.hours for offer in shown])
    caption = (
        "Each point is a cluster with a batch. On the frontier, less time costs more; pale points are beaten in "
        "both time and cost. Open marks are predicted."
    )
    return Figure("frontier", caption, Plot("Time against cost", x, y, tuple(series)))


def scaling_figure(plan: PlanFile) -> Figure | None:
    """Draw time, and cost where there are prices, against workers: what is predicted hollow, with its interval."""
    curves = [curve for curve in plan.scaling if len(curve.points) > 1]
    if not curves:
        return None
    few = len(curves) <= _MANY_CLUSTERS
    bands = "Bands are the intervals of the time. The dashed line is perfect scaling. " if few else ""
    time = _time_plot(plan, curves, few)
    if all(offer.cost is None for curve in curves for offer in curve.points):
        return Figure("scaling", f"{bands}Open marks are predicted.", time)
    panels = Panels("Time and cost against workers", (time, _cost_plot(plan, curves)))
    return Figure("scaling", f"{bands}Open marks are predicted.", panels)


def some(offers: Sequence[Offer]) -> Sequence[Offer]:
    """Return all offers, or so many of them, picked evenly."""
    return offers[:: -(-len(offers) // MANY_OFFERS)] if offers else offers


def where(offer: Offer) -> str:
    """Name an offer's cluster, workers and batch."""
    batch = "" if offer.global_batch is None else f"batch {offer.global_batch:,}"
    return ", ".join(filter(None, [offer.cluster, counted(offer.workers, "worker"), batch]))


def says(offer: Offer, currency: str | None) -> str:
    """Say what an offer takes and costs, a line for each fact."""
    ends = durations(offer.low_hours, offer.high_hours)
    time = f"{duration(offer.hours)}{ends and f' ({ends})'}"
    lines = [where(offer), time, money(offer.cost, currency), "predicted" if offer.predicted else ""]
    return "\n".join(filter(None, lines))


def _cost(offer: Offer) -> float:
    assert offer.cost is not None
    return offer.cost


def _with_unit(quantity: str, unit: str) -> str:
    return f"{quantity}, {unit}" if unit else quantity


def _axis(label: str, values: Sequence[float]) -> Axis:
    log = min(values) > 0 and max(values) / min(values) > _LOG_FROM
    return Axis(label, log=log, from_zero=not log and min(values) < _ZERO_IS_NEAR * max(values))


def _ends(offer: Offer, per_hour: float) -> tuple[float | None, float | None]:
    """Return the interval of a time, in a unit of which an hour has so many."""
    low, high = (None if end is None else per_hour * end for end in (offer.low_hours, offer.high_hours))
    return low, high


def _time_plot(plan: PlanFile, curves: Sequence[ScalingCurve], few: bool) -> Plot:
    unit, per_hour = unit_of_time([offer.hours for curve in curves for offer in curve.points])
    series = _series(plan, curves, lambda offer: per_hour * offer.hours, per_hour if few else None)
    ideal = _ideal(curves[0], per_hour, alone=len(curves) == 1) if few else []
    times = [per_hour * offer.hours for curve in curves for offer in curve.points]
    rules = [rule for colour, curve in enumerate(curves) if few for rule in _worth(curve, colour, len(curves) == 1)]
    y = _axis(f"expected time to target, {unit}", times)
    return Plot("Time against workers", WORKERS, y, (*ideal, *series), tuple(rules))


def _cost_plot(plan: PlanFile, curves: Sequence[ScalingCurve]) -> Plot:
    costs = [offer.cost for curve in curves for offer in curve.points if offer.cost is not None]
    unit, runs = unit_of_money(costs, plan.currency)
    series = _series(plan, curves, lambda offer: None if offer.cost is None else runs * offer.cost, None)
    y = _axis(_with_unit("expected cost to target", unit), [runs * cost for cost in costs])
    return Plot("Cost against workers", WORKERS, y, tuple(series))


def _series(
    plan: PlanFile, curves: Sequence[ScalingCurve], height: Callable[[Offer], float | None], band_per_hour: float | None
) -> list[Series]:
    """Return a series for each cluster, maybe with the intervals of its times."""
    found = []
    for colour, curve in enumerate(curves):
        marks = [
            Mark(offer.workers, y, says(offer, plan.currency), predicted=offer.predicted)
            for offer in curve.points
            if (y := height(offer)) is not None
        ]
        band = () if band_per_hour is None else _band(curve, band_per_hour)
        found.append(Series(curve.cluster, tuple(marks), colour, band=band, label=curve.cluster))
    return found


def _band(curve: ScalingCurve, per_hour: float) -> tuple[tuple[float, float, float], ...]:
    ends = [(offer.workers, *_ends(offer, per_hour)) for offer in curve.points]
    band = [(workers, low, high) for workers, low, high in ends if low is not None and high is not None]
    return tuple(band) if len(band) > 1 else ()


def _worth(curve: ScalingCurve, colour: int, alone: bool) -> list[Rule]:
    if curve.worth_up_to is None:
        return []
    of = "" if alone else f", {curve.cluster}"
    return [Rule("x", curve.worth_up_to, f"worth it up to {curve.worth_up_to:,}{of}", colour)]


def _ideal(curve: ScalingCurve, per_hour: float, alone: bool) -> list[Series]:
    """Return perfect scaling from the first point on, as far as it is visible."""
    first = curve.points[0]
    floor = min(offer.hours for offer in curve.points) / 2
    hours = [(offer.workers, first.hours * first.workers / offer.workers) for offer in curve.points]
    seen = tuple(Mark(workers, per_hour * time) for workers, time in hours if time >= floor)
    name = "perfect scaling" if alone else f"perfect scaling of {curve.cluster}"
    return [Series(name, seen, None, Line.DASHED, Shape.NONE, silent=True)] if len(seen) > 1 else []
