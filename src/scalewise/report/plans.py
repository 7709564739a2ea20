"""The section of a plan: the fastest cluster, the cheapest, and the frontier between them."""

from collections.abc import Sequence
from pathlib import Path

from scalewise.charts import unit_of_time
from scalewise.report.chart import Axis, Line, Mark, Plot, Rule, Series, Shape
from scalewise.report.origin import origin_of
from scalewise.report.picture import draw_plot
from scalewise.report.section import NEW, Figure, Section, Table
from scalewise.report.values import Facts, read_facts
from scalewise.report.words import counted, duration, durations, money, number, percent, sentence
from scalewise.requests import PlanRequest, command_line

FILE = "plan.json"
_CHOICES = {
    "fastest": "fastest",
    "cheapest": "cheapest",
    "fastest_within_budget": "fastest within the budget",
    "cheapest_within_deadline": "cheapest within the deadline",
}
_LOG_FROM = 10
_ZERO_IS_NEAR = 0.4
"""An axis begins at zero where the smallest value is a smaller share of the largest."""
_MANY_CLUSTERS = 2
"""More of them, with bands and rules, would hide each other."""
_MANY_POINTS = 400
"""So many candidates are shown at most: more fill a page and say no more."""


def plan_sections(folder: Path) -> list[Section]:
    """Read a folder of a plan."""
    facts = read_facts(folder / FILE)
    currency, asked = facts.text("currency"), facts.part("asked")
    return [
        Section(
            kind="Plan",
            title=asked.text("workload") or "time and cost to the target",
            folder=folder,
            answer=_answer(facts, currency),
            asked=asked.shown(),
            figures=[*_frontier_figures(facts, currency), *_scaling_figures(facts, currency)],
            tables=[
                *_choice_tables(facts, currency),
                *_point_tables("The frontier", facts.each("frontier"), currency),
                *_point_tables(_shown_candidates(facts), _some(facts.each("candidates")), currency),
                *_scaling_tables(facts, currency),
            ],
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


def _answer(facts: Facts, currency: str) -> list[str]:
    names = {point.text("cluster") for point in facts.each("candidates")} - {""}
    said = [sentence(text, names) for text in facts.texts("says")]
    return (
        said or [_choice_sentence(word, point, currency) for word, point in _choices(facts)] or ["Nothing is possible."]
    )


def _choices(facts: Facts) -> list[tuple[str, Facts]]:
    found = [(word, facts.part(name)) for name, word in _CHOICES.items()]
    return [(word, point) for word, point in found if point.content]


def _choice_sentence(word: str, point: Facts, currency: str) -> str:
    cost = money(point.number("cost"), currency)
    return f"The {word} is {_where(point)}: {duration(point.number('hours'))}{cost and f' for {cost}'}."


def _where(point: Facts) -> str:
    batch = number(point.number("global_batch"))
    parts = [point.text("cluster"), counted(point.whole("workers") or 0, "worker"), batch and f"batch {batch}"]
    return ", ".join(filter(None, parts))


def _some(points: Sequence[Facts]) -> Sequence[Facts]:
    """Return all points, or so many of them, picked evenly."""
    return points[:: -(-len(points) // _MANY_POINTS)] if points else points


def _shown_candidates(facts: Facts) -> str:
    count = len(facts.each("candidates"))
    return "All candidates" if count <= _MANY_POINTS else f"Every {-(-count // _MANY_POINTS)}th of {count:,} candidates"


def _commands(facts: Facts) -> list[str]:
    """Return how to plan again, and how to train as each choice says."""
    asked = facts.part("asked")
    again = [command_line(_request(asked))] if asked.text("clusters") else []
    return [*again, *dict.fromkeys(text for _, point in _choices(facts) if (text := point.text("command")))]


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


def _key(point: Facts) -> tuple[str, ...]:
    """Return what makes a candidate itself."""
    return tuple(point.text(name) for name in ("cluster", "nodes", "workers", "global_batch", "learning_rate"))


def _axis(label: str, values: Sequence[float]) -> Axis:
    log = bool(values) and min(values) > 0 and max(values) / min(values) > _LOG_FROM
    from_zero = not log and min(values, default=0.0) < _ZERO_IS_NEAR * max(values, default=1.0)
    return Axis(label, log=log, from_zero=from_zero)


def _frontier_figures(facts: Facts, currency: str) -> list[Figure]:
    frontier = sorted(_priced(facts.each("frontier")), key=lambda point: point.needed("cost"))
    on_it = {_key(point) for point in frontier}
    others = [point for point in _some(_priced(facts.each("candidates"))) if _key(point) not in on_it]
    if not frontier:
        return []
    points = [*frontier, *others]
    x = _axis(f"cost, {currency}" if currency else "cost", [point.needed("cost") for point in points])
    unit, per_hour = unit_of_time([point.needed("hours") for point in points])
    y = _axis(f"{unit} to the target", [per_hour * point.needed("hours") for point in points])
    pale = tuple(_cost_mark(one, currency, per_hour, False) for one in others)
    series = [
        Series("other candidates", pale, None, Line.NONE, pale=True),
        Series("frontier", tuple(_cost_mark(one, currency, per_hour, True) for one in frontier), 0),
    ]
    chosen = [(word, point) for word, point in _choices(facts) if point.number("cost") is not None]
    series += [
        Series(word, (_cost_mark(point, currency, per_hour, False),), colour, Line.NONE)
        for colour, (word, point) in enumerate(chosen, start=1)
    ]
    plot = Plot("Time against cost", x, y, tuple(series))
    caption = (
        "Each point is a cluster with a batch. On the frontier, less time costs more; pale points are never the choice."
    )
    return [Figure("frontier", caption, plot, draw_plot(plot))]


def _priced(points: Sequence[Facts]) -> list[Facts]:
    return [point for point in points if point.number("cost") is not None and point.number("hours") is not None]


def _cost_mark(point: Facts, currency: str, per_hour: float, with_interval: bool) -> Mark:
    low, high = _ends(point, per_hour) if with_interval else (None, None)
    time = per_hour * point.needed("hours")
    return Mark(point.needed("cost"), time, _says(point, currency), low, high, point.truth("predicted"))


def _ends(point: Facts, per_hour: float) -> tuple[float | None, float | None]:
    """Return the interval of a time, in a unit of which an hour has so many."""
    low, high = (point.number(name) for name in ("low_hours", "high_hours"))
    return None if low is None else per_hour * low, None if high is None else per_hour * high


def _says(point: Facts, currency: str) -> str:
    hours, ends = duration(point.number("hours")), _hours_interval(point)
    lines = [
        _where(point),
        f"{hours}{ends and f' ({ends})'}",
        money(point.number("cost"), currency),
        "predicted" if point.truth("predicted") else "",
    ]
    return "\n".join(filter(None, lines))


def _hours_interval(point: Facts) -> str:
    return durations(point.number("low_hours"), point.number("high_hours"))


def _scaling_figures(facts: Facts, currency: str) -> list[Figure]:
    clusters = [(one, _timed(one)) for one in facts.each("scaling") if len(_timed(one)) > 1]
    if not clusters:
        return []
    few = len(clusters) <= _MANY_CLUSTERS
    unit, per_hour = unit_of_time([point.needed("hours") for _, points in clusters for point in points])
    series = [
        _cluster_series(one, points, colour, currency, per_hour, few) for colour, (one, points) in enumerate(clusters)
    ]
    rules = [
        Rule(
            "x", worth, f"worth it up to {worth:,}" + (f", {one.text('cluster')}" if len(clusters) > 1 else ""), colour
        )
        for colour, (one, _) in enumerate(clusters)
        if few and (worth := one.whole("worth_up_to")) is not None
    ]
    of = f" of {clusters[0][0].text('cluster')}" if len(clusters) > 1 else ""
    times = [per_hour * point.needed("hours") for _, points in clusters for point in points]
    y = _axis(f"{unit} to the target", times)
    x = Axis("workers", log=True, powers_of_two=True)
    ideal = _ideal(clusters[0][1], per_hour, of) if few else []
    plot = Plot("Time against workers", x, y, (*ideal, *series), tuple(rules))
    bands = "Bands are the intervals of the time. The dashed line is perfect scaling. " if few else ""
    caption = f"{bands}Open marks are predicted."
    return [Figure("scaling", caption, plot, draw_plot(plot))]


def _timed(cluster: Facts) -> list[Facts]:
    points = [one for one in cluster.each("points") if one.number("hours") is not None and one.number("workers")]
    return sorted(points, key=lambda point: point.needed("workers"))


def _ideal(points: Sequence[Facts], per_hour: float, of: str) -> list[Series]:
    """Return perfect scaling from the first point on, as long as it stays within sight."""
    workers, time = points[0].needed("workers"), per_hour * points[0].needed("hours")
    floor = per_hour * min(point.needed("hours") for point in points) / 2
    marks = [Mark(one.needed("workers"), time * workers / one.needed("workers")) for one in points]
    seen = tuple(mark for mark in marks if mark.y >= floor)
    name = f"perfect scaling{of}"
    return [Series(name, seen, None, Line.DASHED, Shape.NONE, silent=True)] if len(seen) > 1 else []


def _cluster_series(
    cluster: Facts, points: Sequence[Facts], colour: int, currency: str, per_hour: float, banded: bool
) -> Series:
    marks = [
        Mark(
            one.needed("workers"),
            per_hour * one.needed("hours"),
            _says(one, currency),
            predicted=one.truth("predicted"),
        )
        for one in points
    ]
    ends = [(one.needed("workers"), *_ends(one, per_hour)) for one in points]
    band = tuple((x, low, high) for x, low, high in ends if low is not None and high is not None)
    name = cluster.text("cluster")
    return Series(name, tuple(marks), colour, band=band if banded and len(band) > 1 else (), label=name)


_COLUMNS = (
    *("cluster", "nodes", "workers", "global batch", "learning rate", "steps", "s/step", "time", "interval"),
    *("cost", "reliability", ""),
)


def _cells(point: Facts, currency: str) -> list[str]:
    counts = [number(point.number(name)) for name in ("nodes", "workers", "global_batch", "learning_rate", "steps")]
    return [
        point.text("cluster"),
        *counts,
        number(point.number("step_seconds")),
        duration(point.number("hours")),
        _hours_interval(point),
        money(point.number("cost"), currency),
        _reliability(point),
        "predicted" if point.truth("predicted") else "",
    ]


def _reliability(point: Facts) -> str:
    runs = point.whole("runs")
    if point.number("reliability") is None or runs == 1:
        return f"unknown ({runs or 0} run{'s' * (runs != 1)})"
    return percent(point.number("reliability")) + ("" if runs is None else f" of {runs:,}")


def _choice_tables(facts: Facts, currency: str) -> list[Table]:
    rows = [[word, *_cells(point, currency)] for word, point in _choices(facts)]
    return [Table("The choices", ("", *_COLUMNS), rows)] if rows else []


def _point_tables(title: str, points: Sequence[Facts], currency: str) -> list[Table]:
    return [Table(title, _COLUMNS, [_cells(point, currency) for point in points])] if points else []


def _scaling_tables(facts: Facts, currency: str) -> list[Table]:
    rows = [
        [
            cluster.text("cluster"),
            number(point.number("workers")),
            number(point.number("global_batch")),
            duration(point.number("hours")),
            _hours_interval(point),
            money(point.number("cost"), currency),
            "predicted" if point.truth("predicted") else "",
        ]
        for cluster in facts.each("scaling")
        for point in _timed(cluster)
    ]
    columns = ("cluster", "workers", "global batch", "time", "interval", "cost", "")
    return [Table("Time against workers", columns, rows)] if rows else []
