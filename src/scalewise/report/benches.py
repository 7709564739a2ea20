"""The section of a bench: how much faster more workers are, and where the time goes."""

from collections.abc import Sequence
from pathlib import Path

from scalewise.bench.breakdown import Breakdown, Phase, breakdown_table, phases_figure
from scalewise.bench.speedups import speed_table, speedup_figure
from scalewise.bench.throughput import Series, Throughput, series
from scalewise.figures.figure import Figure
from scalewise.figures.table import Table, numbers, texts
from scalewise.report.origin import origin_of
from scalewise.report.section import NEW, Section
from scalewise.report.values import Facts, read_facts
from scalewise.requests import BenchRequest, command_line
from scalewise.words import counted, number, percent, seconds, sentence

FILE = "bench.json"


def bench_sections(folder: Path) -> list[Section]:
    """Read a folder of a bench."""
    facts = read_facts(folder / FILE)
    asked, points = facts.part("asked"), [_point(point) for point in facts.each("points")]
    lines = series(points, _is_weak(asked, points))
    breakdown = facts.each("breakdown")
    return [
        Section(
            kind="Bench",
            title=asked.text("workload") or "seconds per step",
            folder=folder,
            answer=_answer(lines, breakdown),
            asked=asked.shown(),
            figures=_figures(lines, breakdown),
            tables=[
                speed_table(lines),
                *_breakdown_tables(breakdown),
                *_network_tables(facts.each("network")),
            ],
            methods=_METHODS,
            commands=_commands(asked),
            origin=origin_of(facts),
        )
    ]


_METHODS = (
    "After a warm-up, rounds of steps are timed until the 95 % interval of their median is within 2 %, or until the "
    "time is up. Every worker has the same number of threads at every number of workers.",
    "The speedup is in examples per second, against as many times the smallest group as it has workers; efficiency is "
    "speedup per worker.",
    "Where the time goes is measured apart, with a stopwatch around the parts of a step on every worker. Waiting for "
    "the slowest is what a worker waits beyond what the slowest one itself pays for meeting the others.",
)


def _point(facts: Facts) -> Throughput:
    return Throughput(
        cluster=facts.text("cluster"),
        workers=int(facts.needed("workers")),
        global_batch=int(facts.needed("global_batch")),
        step_seconds=facts.needed("step_seconds"),
        low=facts.number("low"),
        high=facts.number("high"),
        workers_per_node=facts.whole("workers_per_node"),
        microbatch=facts.whole("microbatch"),
    )


def _is_weak(asked: Facts, points: Sequence[Throughput]) -> bool:
    """Say what was kept: where nobody wrote it down, whichever makes fewer lines."""
    if scaling := asked.text("scaling"):
        return scaling == "weak"
    return len({point.examples_per_worker for point in points}) <= len({point.global_batch for point in points})


def _answer(lines: Sequence[Series], breakdown: Sequence[Facts]) -> list[str]:
    fastest_first = sorted(lines, key=lambda line: line.speedup(line.points[-1]), reverse=True)
    sentences = [_speed_sentence(line) for line in fastest_first]
    if breakdown:
        largest = max(breakdown, key=lambda facts: (facts.needed("workers"), facts.needed("global_batch")))
        workers = counted(int(largest.needed("workers")), "worker")
        sentences.append(f"Verdict on {workers}: {largest.text('verdict')}.")
    return sentences or ["Nothing was measured."]


def _speed_sentence(line: Series) -> str:
    last = line.points[-1]
    workers = counted(last.workers, "worker")
    speed = f"{number(round(last.examples_per_second, 1))} examples per second"
    if len(line.points) == 1:
        return f"{sentence(line.name)[:-1]}: {workers} train {speed}, a step takes {seconds(last.step_seconds)}."
    first = counted(line.points[0].workers, "worker")
    ratio = last.examples_per_second / line.points[0].examples_per_second
    return (
        f"{sentence(line.name)[:-1]}: {workers} train {speed}, {ratio:.2f} times as many as {first}, "
        f"which is {percent(line.efficiency(last))} of the ideal."
    )


def _figures(lines: Sequence[Series], breakdown: Sequence[Facts]) -> list[Figure]:
    several = len({point.workers for line in lines for point in line.points}) > 1
    phases = phases_figure([_breakdown(facts) for facts in breakdown])
    return [*([speedup_figure(lines)] if several else []), *([] if phases is None else [phases])]


def _breakdown(facts: Facts) -> Breakdown:
    phases = [
        {phase: value for phase in Phase if (value := one.number(phase)) is not None} for one in facts.each("phases")
    ]
    workers, batch = (int(facts.needed(name)) for name in ("workers", "global_batch"))
    return Breakdown(workers, batch, facts.whole("microbatch"), phases)


def _breakdown_tables(breakdown: Sequence[Facts]) -> list[Table]:
    points = [_breakdown(facts) for facts in breakdown]
    if not any(point.phases for point in points):
        return []
    verdicts = [[point.name, facts.text("verdict")] for point, facts in zip(points, breakdown, strict=True)]
    return [breakdown_table(points), Table("Verdicts", texts("", "a step is"), verdicts)]


def _network_tables(networks: Sequence[Facts]) -> list[Table]:
    rows = [
        [f"{network.whole('workers') or 0:,}", _bytes(message), f"{1000 * message.needed('seconds'):.3f}"]
        for network in networks
        for message in network.each("messages")
    ]
    return [Table("The network", numbers("workers", "bytes", "all-reduce, ms"), rows)] if rows else []


def _bytes(message: Facts) -> str:
    return f"{int(message.needed('size_bytes')):,}"


def _commands(asked: Facts) -> list[str]:
    if not asked.text("workload"):
        return []
    request = BenchRequest(
        workload=asked.text("workload"),
        workers=tuple(asked.wholes("workers")) or BenchRequest.workers,
        microbatches=tuple(asked.wholes("microbatches")) or BenchRequest.microbatches,
        scaling="strong" if asked.text("scaling") == "strong" else "weak",
        seconds=asked.number("seconds") or BenchRequest.seconds,
        synthetic=asked.truth("synthetic"),
        cluster=asked.text("cluster") or BenchRequest.cluster,
        overrides=tuple(asked.texts("overrides")),
        out=NEW,
    )
    return [command_line(request)]
