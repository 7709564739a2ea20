"""The section of a bench: how much faster more workers are, and where the time goes."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from scalewise.bench.chart import speedup_figure
from scalewise.bench.phases import Phase
from scalewise.bench.table import speed_table
from scalewise.bench.throughput import Series as Speeds
from scalewise.bench.throughput import Throughput, series
from scalewise.report.chart import Axis, Bar, Bars, Line, Mark, Plot, Series, Shape
from scalewise.report.origin import origin_of
from scalewise.report.picture import draw_bars
from scalewise.report.section import NEW, Figure, Section, Table, as_table
from scalewise.report.values import Facts, read_facts
from scalewise.report.words import counted, duration, number, percent, sentence
from scalewise.requests import BenchRequest, command_line

FILE = "bench.json"
_MANY_BARS = 12


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
            figures=[*_speedup(lines), *_phases(breakdown)],
            tables=[
                as_table("Speeds", speed_table(lines)),
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


def _answer(lines: Sequence[Speeds], breakdown: Sequence[Facts]) -> list[str]:
    fastest_first = sorted(lines, key=lambda line: line.speedup(line.points[-1]), reverse=True)
    sentences = [_speed_sentence(line) for line in fastest_first]
    if breakdown:
        largest = max(breakdown, key=lambda facts: (facts.needed("workers"), facts.needed("global_batch")))
        workers = counted(int(largest.needed("workers")), "worker")
        sentences.append(f"Verdict on {workers}: {largest.text('verdict')}.")
    return sentences or ["Nothing was measured."]


def _speed_sentence(line: Speeds) -> str:
    last = line.points[-1]
    workers = counted(last.workers, "worker")
    speed = f"{number(round(last.examples_per_second, 1))} examples per second"
    if len(line.points) == 1:
        return (
            f"{sentence(line.name)[:-1]}: {workers} train {speed}, a step takes {duration(last.step_seconds / 3600)}."
        )
    first = counted(line.points[0].workers, "worker")
    ratio = last.examples_per_second / line.points[0].examples_per_second
    return (
        f"{sentence(line.name)[:-1]}: {workers} train {speed}, {ratio:.2f} times as many as {first}, "
        f"which is {percent(line.efficiency(last))} of the ideal."
    )


def _speedup(lines: Sequence[Speeds]) -> list[Figure]:
    workers = sorted({point.workers for line in lines for point in line.points})
    if len(workers) < 2:
        return []
    ends = (Mark(0, 0), Mark(workers[-1], workers[-1]))
    ideal = Series("ideal", ends, None, Line.DASHED, Shape.NONE, silent=True, label="ideal")
    drawn = [_speed_series(line, colour) for colour, line in enumerate(lines)]
    x, y = Axis("workers", from_zero=True, whole=True), Axis("speedup", from_zero=True)
    plot = Plot("Speedup against workers", x, y, (ideal, *drawn))
    caption = "The dashed line is the ideal: twice the workers, twice the speed."
    return [Figure("speedup", caption, plot, speedup_figure(lines))]


def _speed_series(line: Speeds, colour: int) -> Series:
    marks = [_speed_mark(line, point) for point in line.points]
    return Series(line.name, tuple(marks), colour, label=f"{line.name}: {marks[-1].y:.1f}x")


def _speed_mark(line: Speeds, point: Throughput) -> Mark:
    speedup = line.speedup(point)
    says = (
        f"{counted(point.workers, 'worker')}, batch {point.global_batch:,}",
        f"{speedup:.2f}x, {percent(line.efficiency(point))} of the ideal",
        f"{duration(point.step_seconds / 3600)} per step",
    )
    # A slow step is a small speedup: the ends of the interval change places.
    low, high = (None if end is None else speedup * point.step_seconds / end for end in (point.high, point.low))
    return Mark(point.workers, speedup, "\n".join(says), low, high)


def _phases(breakdown: Sequence[Facts]) -> list[Figure]:
    bars = [bar for facts in breakdown for bar in _bars(facts)]
    if len(bars) > _MANY_BARS:
        bars = [_middle_bar(facts) for facts in breakdown if facts.each("phases")]
    if not bars:
        return []
    chart = Bars("Where the time of a step goes", "milliseconds per step", "ms", tuple(Phase), tuple(bars))
    return [Figure("phases", "One bar for each worker of each point.", chart, draw_bars(chart))]


def _bars(facts: Facts) -> list[Bar]:
    found = facts.each("phases")
    names = [_group(facts) if len(found) == 1 else f"{_group(facts)}: worker {rank}" for rank in range(len(found))]
    return [Bar(name, _milliseconds(phases)) for name, phases in zip(names, found, strict=True)]


def _middle_bar(facts: Facts) -> Bar:
    workers = [_milliseconds(phases) for phases in facts.each("phases")]
    return Bar(f"{_group(facts)}: the median", tuple(median(values) for values in zip(*workers, strict=True)))


def _group(facts: Facts) -> str:
    return f"{counted(int(facts.needed('workers')), 'worker')}, batch {int(facts.needed('global_batch')):,}"


def _milliseconds(phases: Facts) -> tuple[float, ...]:
    return tuple(1000 * (phases.number(phase) or 0.0) for phase in Phase)


def _breakdown_tables(breakdown: Sequence[Facts]) -> list[Table]:
    rows = [[bar.label, *(f"{value:.3f}" for value in bar.values)] for facts in breakdown for bar in _bars(facts)]
    verdicts = [[_group(facts), facts.text("verdict")] for facts in breakdown]
    if not rows:
        return []
    return [
        Table("Where the time goes", ["", *(f"{phase}, ms" for phase in Phase)], rows),
        Table("Verdicts", ["", "a step is"], verdicts, (False, False)),
    ]


def _network_tables(networks: Sequence[Facts]) -> list[Table]:
    rows = [
        [f"{network.whole('workers') or 0:,}", _bytes(message), f"{1000 * message.needed('seconds'):.3f}"]
        for network in networks
        for message in network.each("messages")
    ]
    columns = ("workers", "bytes", "all-reduce, ms")
    return [Table("The network", columns, rows, (True, True, True))] if rows else []


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
