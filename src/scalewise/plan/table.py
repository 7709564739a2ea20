"""The tables of a plan, for a terminal."""

from collections.abc import Iterable

from rich.table import Table

from scalewise.plan.candidates import Candidate
from scalewise.plan.plan import Plan
from scalewise.plan.sentences import duration


def plan_table(planned: Plan) -> Table:
    """Return one row per choice, and the rest of the frontier."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("choice")
    table.add_column("cluster")
    accuracy = any(one.statistic.accuracy is not None for one in planned.candidates)
    cost = f"cost, {planned.currency}" if planned.currency else "cost"
    numbers = ("workers", "batch", "rate", "steps", "s/step", "time", cost, "arrive")
    for name in (*numbers, *(["accuracy"] if accuracy else [])):
        table.add_column(name, justify="right")
    table.add_column("")
    for name, one in _rows(planned):
        table.add_row(name, *_cells(one, accuracy))
    return table


def _rows(planned: Plan) -> Iterable[tuple[str, Candidate]]:
    chosen: dict[int, list[str]] = {}
    by_number: dict[int, Candidate] = {}
    for name, choice in planned.choices().items():
        if choice is not None:
            chosen.setdefault(id(choice), []).append(name.replace("_", " "))
            by_number[id(choice)] = choice
    for number, names in chosen.items():
        yield ", ".join(names), by_number[number]
    yield from (("frontier", one) for one in planned.frontier if id(one) not in chosen)


def _cells(one: Candidate, accuracy: bool) -> list[str]:
    known = one.statistic
    cells = [
        one.cluster.name,
        f"{one.cluster.workers:,}",
        f"{known.global_batch:,}",
        "" if known.learning_rate is None else f"{known.learning_rate:.3g}",
        f"{known.steps:,.0f}",
        f"{one.step_time.seconds:.3g}",
        duration(one.hours),
        "" if one.cost is None else f"{one.cost:,.3g}",
        f"{known.reliability:.0%} of {known.runs}" if known.runs else f"{known.reliability:.0%}",
    ]
    if accuracy:
        cells.append("" if known.accuracy is None else f"{known.accuracy:.4g}")
    return [*cells, "predicted" if one.predicted else "measured"]
