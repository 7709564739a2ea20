"""Writes the tables of README.md from the result files, so that a number is stated once."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from results import read_results

Row = Mapping[str, Any]

_README = Path(__file__).with_name("README.md")
_NOTHING = "\nNot measured yet.\n"


def render_readme() -> None:
    """Bring every table of README.md up to date."""
    recipes = read_results("recipes")
    sections = {
        "pieces": _section(recipes, lambda found: pieces_table(found["pieces"])),
        "optimizers": _section(recipes, lambda found: optimizers_table(found["optimizers"])),
        "recipes-origin": _section(recipes, _origin),
    }
    tables = {
        "peers": peers_table,
        "workers": workers_table,
        "exact": exact_table,
        "checkpoints": checkpoints_table,
        "launched": launched_table,
        "agreement": agreement_table,
        "archive": archive_table,
        "racing": racing_table,
        "planning": planning_table,
    }
    for name, table in tables.items():
        found = read_results(name)
        sections[name] = _NOTHING if found is None else f"\n{table(found['rows'])}\n"
        sections[f"{name}-origin"] = _section(found, _origin)
    text = _README.read_text(encoding="utf-8")
    for name, content in sections.items():
        text = replace_section(text, name, content)
    _README.write_text(text, encoding="utf-8")


def replace_section(text: str, name: str, content: str) -> str:
    """Put content between the marker comments of one section.

    >>> print(replace_section("a <!-- x -->old<!-- /x --> b", "x", "new"))
    a <!-- x -->
    new
    <!-- /x --> b
    """
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    assert len(pattern.findall(text)) == 1, f"README.md must have one section between {start} and {end}"
    return pattern.sub(lambda _: f"{start}\n{content}\n{end}", text)


def peers_table(rows: Iterable[Row]) -> str:
    rows = list(rows)
    others = list(rows[0]["ratio_to"])
    header = ["workload", "global batch", "scalewise, examples/s", *(f"to {other}" for other in others)]
    return _table(header, [_peers_cells(row, others) for row in rows])


def _peers_cells(row: Row, others: list[str]) -> list[str]:
    speed = f"{row['examples_per_second']['scalewise']:,}"
    return [
        *(row["workload"], str(row["global_batch"]), speed),
        *(_ratio(row["ratio_to"][other], row["ratio_range_to"][other]) for other in others),
    ]


def workers_table(rows: Iterable[Row]) -> str:
    header = [
        "workload",
        "global batch",
        "microbatch",
        "1 worker, s/step",
        "workers",
        "s/step",
        "speedup",
        "when quiet",
        "limit",
    ]
    return _table(header, [_workers_cells(row) for row in rows])


def _workers_cells(row: Row) -> list[str]:
    batch = [str(row["global_batch"]), str(row["microbatch"])]
    seconds = row["step_seconds"]
    times = [_seconds(seconds["one"]), str(row["workers"]), _seconds(seconds["many"])]
    speedup, limit = (_ratio(row[name], row[f"{name}_range"]) for name in ("speedup", "limit"))
    return [row["workload"], *batch, *times, speedup, f"{row['quiet_speedup']:.2f}", limit]


def exact_table(rows: Iterable[Row]) -> str:
    header = ["workload", "global batch", "workers", "fast, s/step", "exact, s/step", "exact / fast"]
    return _table(header, [_exact_cells(row) for row in rows])


def _exact_cells(row: Row) -> list[str]:
    seconds = [_seconds(row["step_seconds"][kind]) for kind in ("fast", "exact")]
    price = _ratio(row["exact_to_fast"], row["exact_to_fast_range"])
    return [row["workload"], str(row["global_batch"]), str(row["workers"]), *seconds, price]


def launched_table(rows: Iterable[Row]) -> str:
    header = [
        "workload",
        "global batch",
        "threads",
        "alone, s/step",
        "by torchrun, s/step",
        "speed by torchrun / alone",
    ]
    return _table(header, [_launched_cells(row) for row in rows])


def _launched_cells(row: Row) -> list[str]:
    seconds = [_seconds(row["step_seconds"][way]) for way in ("alone", "launched")]
    ratio = _ratio(row["launched_speed"], row["launched_speed_range"])
    return [row["workload"], str(row["global_batch"]), str(row["threads"]), *seconds, ratio]


def agreement_table(rows: Iterable[Row]) -> str:
    header = ["workload", "global batch", "workers", "train, s/step", "bench, s/step", "bench / train"]
    return _table(header, [_agreement_cells(row) for row in rows])


def _agreement_cells(row: Row) -> list[str]:
    seconds = [_seconds(row["step_seconds"][command]) for command in ("train", "bench")]
    ratio = _ratio(row["bench_to_train"], row["bench_to_train_range"])
    return [row["workload"], str(row["global_batch"]), str(row["workers"]), *seconds, ratio]


def checkpoints_table(rows: Iterable[Row]) -> str:
    header = ["workload", "training, s", "evaluation, s", "checkpoints, s", "their share", "probe, s", "its share"]
    return _table(header, [_checkpoints_cells(row) for row in rows])


def _checkpoints_cells(row: Row) -> list[str]:
    training, evaluation = (_seconds(row[f"{part}_seconds"]) for part in ("training", "evaluation"))
    prices = [(_seconds(row[f"{part}_seconds"]), f"{row[f'{part}_share']:.2%}") for part in ("checkpoint", "probe")]
    return [row["workload"], training, evaluation, *prices[0], *prices[1]]


def pieces_table(rows: Iterable[Row]) -> str:
    return _table(["piece", "s/step", "to nesterov_momentum"], [_cost_cells(row) for row in rows])


def optimizers_table(rows: Iterable[Row]) -> str:
    return _table(["optimizer", "s/update", "to AdamW, foreach"], [_cost_cells(row) for row in rows])


def archive_table(rows: Iterable[Row]) -> str:
    rows = list(rows)
    others = [name for name in ("pandas", "polars") if all(f"faster_than_{name}" in row for row in rows)]
    header = ["studies", "trials", "rows", "GB", "analysed in, s", "memory, GB"]
    return _table(
        [*header, *(f"reading, against {name}" for name in others)], [_archive_cells(row, others) for row in rows]
    )


def _archive_cells(row: Row, others: Iterable[str]) -> list[str]:
    sizes = [f"{row[name]:,}" for name in ("studies", "trials", "rows")]
    seconds, memory = f"{row['analyze_seconds']:.0f}", f"{row['peak_gigabytes']:.1f}"
    faster = [_ratio(row[f"faster_than_{name}"], row[f"faster_than_{name}_range"]) for name in others]
    return [*sizes, f"{row['gigabytes']:.1f}", seconds, memory, *(f"{ratio} times as fast" for ratio in faster)]


def planning_table(rows: Iterable[Row]) -> str:
    header = ["candidates", "the command, s", "the plan itself, s"]
    return _table(header, [_planning_cells(row) for row in rows])


def _planning_cells(row: Row) -> list[str]:
    times = [_ratio(row[f"{name}_seconds"], row[f"{name}_range"]) for name in ("command", "plan")]
    return [f"{row['candidates']:,}", *times]


def racing_table(rows: Iterable[Row]) -> str:
    header = ["workload", "seed", "same answer", "all to the end, examples", "raced, examples", "times fewer"]
    return _table(header, [_racing_cells(row) for row in rows])


def _racing_cells(row: Row) -> list[str]:
    examples = [f"{row[name] / 1e6:.1f} million" for name in ("examples_whole", "examples_raced")]
    return [
        *(row["workload"], str(row["seed"]), "yes" if row["same_answer"] else "NO"),
        *(*examples, f"{row['times_fewer']:.1f}"),
    ]


def _cost_cells(row: Row) -> list[str]:
    return [row["name"], _seconds(row["seconds"]), _ratio(row["ratio"], row["ratio_range"])]


def _section(found: Row | None, content: Callable[[Row], str]) -> str:
    return _NOTHING if found is None else f"\n{content(found)}\n"


def _origin(found: Row) -> str:
    """Say where the numbers come from, one fact per line."""
    hardware, versions = found["hardware"], found["versions"]
    machine = f"{hardware['processor']}, {hardware['cores']} cores, {hardware['memory_gib']} GiB, {hardware['system']}"
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    facts = {
        "made by": f"`{found['made_by']}`{_often(found)}",
        "date": found["date"],
        "hardware": machine,
        "versions": packages,
        "commit": found["git_commit"],
    }
    return "\n".join(f"* {name}: {fact}" for name, fact in facts.items())


def _often(found: Row) -> str:
    if "trials" in found:
        return f", {found['trials']} trials"
    return f", {found['rounds']} rounds" if found["rounds"] > 1 else ""


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    """Draw a table; the first column holds names, the others numbers."""
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def _ratio(middle: float, ends: list[float]) -> str:
    return f"{middle:.2f} ({ends[0]:.2f} to {ends[1]:.2f})"


def _seconds(value: float) -> str:
    return f"{value:.3g}"


if __name__ == "__main__":
    render_readme()
