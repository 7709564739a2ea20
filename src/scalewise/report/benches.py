"""The section of a bench: how much faster more workers are, and where the time goes."""

from collections.abc import Sequence
from pathlib import Path

from scalewise.bench.breakdown import breakdown_table, phases_figure
from scalewise.bench.speedups import speed_table, speedup_figure
from scalewise.figures.figure import Figure
from scalewise.figures.table import Table, numbers, texts
from scalewise.record.results.bench import BenchFile, Breakdown, NetworkSpeed
from scalewise.record.throughput import SpeedSeries
from scalewise.report.origin import origin
from scalewise.report.section import NEW, ReportSection
from scalewise.report.values import shown
from scalewise.requests import command_line
from scalewise.words import counted, number, percent, seconds, sentence


def bench_sections(folder: Path) -> list[ReportSection]:
    """Read a folder of a bench."""
    bench = BenchFile.read(folder)
    asked, lines = bench.asked, bench.series()
    return [
        ReportSection(
            kind="Bench",
            title="seconds per step" if asked is None else asked.workload,
            folder=folder,
            answer=_answer(lines, bench.breakdown),
            asked={} if asked is None else shown(asked.model_dump()),
            figures=_figures(lines, bench.breakdown),
            tables=[speed_table(lines), *_breakdown_tables(bench.breakdown), *_network_tables(bench.network)],
            methods=_METHODS,
            commands=[] if asked is None else [command_line(asked.request(NEW))],
            origin=origin(bench.versions, bench.hardware, {"measured": bench.measured, "commit": bench.git_commit}),
        )
    ]


_METHODS = (
    "After a warm-up, rounds of steps are timed until the 95 % interval of their median is within 2 %, or until the "
    "time is up. Every worker has the same number of threads at every number of workers.",
    "The speedup compares examples per second with those of one worker, or one worker's share of the smallest group; "
    "efficiency is speedup per worker.",
    "Where the time goes is measured separately, with a timer around the parts of a step on every worker. Waiting for "
    "the slowest is the time that a worker waits in addition to what synchronisation costs the slowest worker itself.",
)


def _answer(lines: Sequence[SpeedSeries], breakdown: Sequence[Breakdown]) -> list[str]:
    fastest_first = sorted(lines, key=lambda line: line.speedup(line.points[-1]), reverse=True)
    sentences = [_speed_sentence(line) for line in fastest_first]
    if breakdown:
        largest = max(breakdown, key=lambda point: (point.workers, point.global_batch))
        sentences.append(f"Verdict on {counted(largest.workers, 'worker')}: {largest.verdict}.")
    return sentences or ["Nothing was measured."]


def _speed_sentence(line: SpeedSeries) -> str:
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


def _figures(lines: Sequence[SpeedSeries], breakdown: Sequence[Breakdown]) -> list[Figure]:
    several = len({point.workers for line in lines for point in line.points}) > 1
    phases = phases_figure(breakdown)
    return [*([speedup_figure(lines)] if several else []), *([] if phases is None else [phases])]


def _breakdown_tables(breakdown: Sequence[Breakdown]) -> list[Table]:
    if not any(point.phases for point in breakdown):
        return []
    verdicts = [[point.name, point.verdict] for point in breakdown]
    return [breakdown_table(breakdown), Table("Verdicts", texts("", "a step is"), verdicts)]


def _network_tables(networks: Sequence[NetworkSpeed]) -> list[Table]:
    rows = [
        [f"{network.workers:,}", f"{message.size_bytes:,}", f"{1000 * message.seconds:.3f}"]
        for network in networks
        for message in network.messages
    ]
    return [Table("The network", numbers("workers", "bytes", "all-reduce, ms"), rows)] if rows else []
