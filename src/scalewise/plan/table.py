"""The tables of a plan, for a terminal."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from scalewise.plan.candidates import Candidate, fastest
from scalewise.plan.clusters import Cluster
from scalewise.plan.plan import Plan
from scalewise.plan.sentences import duration, money, reliability, size_of


def plan_table(planned: Plan) -> Table:
    """Return one row per choice, and the rest of the frontier."""
    return _table(planned, ("choice", "cluster"), (([name, one.cluster.name], one) for name, one in _rows(planned)))


def size_table(planned: Plan) -> Table:
    """Return the fastest way on every size of every cluster."""
    sizes: dict[Cluster, list[Candidate]] = {}
    for one in planned.candidates:
        sizes.setdefault(one.cluster, []).append(one)
    best = (fastest(candidates) for candidates in sizes.values())
    return _table(planned, ("the fastest on",), (([size_of(one.cluster)], one) for one in best if one is not None))


def _table(planned: Plan, leading: Sequence[str], rows: Iterable[tuple[list[str], Candidate]]) -> Table:
    table = Table(*leading, box=None, header_style="bold", pad_edge=False)
    accuracy = any(one.statistic.accuracy is not None for one in planned.candidates)
    cost = f"cost, {planned.currency}" if planned.currency else "cost"
    numbers = ("workers", "batch", "rate", "steps", "s/step", "time", cost, "reach target")
    for name in (*numbers, *(["accuracy"] if accuracy else [])):
        table.add_column(name, justify="right")
    table.add_column("")
    for leading_cells, one in rows:
        table.add_row(*leading_cells, *_cells(one, accuracy))
    return table


def _rows(planned: Plan) -> Iterable[tuple[str, Candidate]]:
    chosen: dict[int, list[str]] = {}
    by_number: dict[int, Candidate] = {}
    for name, choice in planned.choices.items():
        if choice is not None:
            chosen.setdefault(id(choice), []).append(name.replace("_", " "))
            by_number[id(choice)] = choice
    for number, names in chosen.items():
        yield ", ".join(names), by_number[number]
    yield from (("frontier", one) for one in planned.frontier if id(one) not in chosen)


def _cells(one: Candidate, accuracy: bool) -> list[str]:
    known = one.statistic
    cells = [
        f"{one.cluster.workers:,}",
        f"{known.global_batch:,}",
        "" if known.learning_rate is None else f"{known.learning_rate:.3g}",
        f"{known.steps:,.0f}",
        f"{one.step_time.seconds:.3g}",
        duration(one.hours),
        "" if one.cost is None else money(one.cost),
        reliability(known),
    ]
    if accuracy:
        cells.append("" if known.accuracy is None else f"{known.accuracy:.4g}")
    return [*cells, "predicted" if one.predicted else "measured"]
