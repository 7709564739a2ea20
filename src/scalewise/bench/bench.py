"""The bench from its points to its table, chart and files."""

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scalewise.bench.group import GroupResult, as_json, measure_group
from scalewise.bench.measure import MeasuredPoint
from scalewise.bench.points import Point, points
from scalewise.bench.speedups import speedup_figure
from scalewise.bench.verdict import verdict
from scalewise.cluster.collectives import choose_device, gpu_name
from scalewise.cluster.launch import launch_local
from scalewise.cluster.progress_console import progress_console
from scalewise.cluster.world import World
from scalewise.config import AUTO, Config
from scalewise.errors import ConfigError, ExitCode, Failed, Interrupted
from scalewise.record.provenance import git_commit, hardware, now, versions
from scalewise.record.results.bench import BenchAsked, BenchFile, BenchPoint, Breakdown
from scalewise.record.throughput import SpeedSeries, read_throughput, speed_series, write_throughput
from scalewise.requests import BenchFileRequest, BenchRequest, arguments, by_commas
from scalewise.storage import write_result
from scalewise.words import counted
from scalewise.workloads import Workload
from scalewise.workloads.find import find_workload


def bench(request: BenchRequest) -> BenchFile | None:
    """Measure; None in a worker if the chief, or the process that started it, has the result."""
    if request.seconds <= 0:
        raise ConfigError(f"--seconds {request.seconds:g} must be greater than 0")
    world = World.from_environment()
    workload = find_workload(request.workload)
    points(request, workload)  # a mistake is reported before anything runs
    if world.launched:
        _check_world(request, world)
        result = measure_group(request, workload, world)
        if world.chief and request.group_result is not None:
            write_result(request.group_result, as_json.dump_json(result))
        return _ended(_found(request, result), [result], workload) if world.chief and not request.group_result else None
    results: list[GroupResult] = []
    console = progress_console()
    for workers in _in_turn(request):
        console.print(_announcement(request, workers), highlight=False)
        found = _launch(request, workers, workload)
        results.append(found)
        request = _found(request, found)
    results.sort(key=lambda result: request.workers.index(result.workers))
    return _ended(request, results, workload)


def _in_turn(request: BenchRequest) -> Sequence[int]:
    """Say in which order groups are measured: the largest first if it must find what fits into memory."""
    return sorted(request.workers, reverse=True) if request.microbatches == AUTO else request.workers


def _found(request: BenchRequest, result: GroupResult) -> BenchRequest:
    """Return the request with the microbatches that a group measured, which it may have had to find."""
    return dataclasses.replace(request, microbatches=tuple(result.microbatches))


def _announcement(request: BenchRequest, workers: int) -> str:
    sizes = "the largest that fits" if request.microbatches == AUTO else ", ".join(map(str, request.microbatches))
    return f"measuring {counted(workers, 'worker')}, microbatch {sizes}"


def bench_from(request: BenchFileRequest) -> BenchFile:
    """Show results that were measured elsewhere."""
    lines = speed_series(read_throughput(request.file), request.scaling == "weak")
    _draw(request.out, lines)
    return BenchFile(points=_points_on(lines), breakdown=(), network=())


def _points_on(lines: Sequence[SpeedSeries]) -> tuple[BenchPoint, ...]:
    return tuple(BenchPoint.of(line, point) for line in lines for point in line.points)


def _draw(out: Path, lines: Sequence[SpeedSeries]) -> None:
    from scalewise.figures.picture import picture  # loads matplotlib, which only a bench that has ended needs

    write_result(out / "speedup.png", picture(speedup_figure(lines).chart))


def _check_world(request: BenchRequest, world: World) -> None:
    if request.workers != (world.workers,):
        asked = by_commas(request.workers)
        raise ConfigError(f"--workers {asked} was asked for, but the launcher started {world.workers}")


def _launch(request: BenchRequest, workers: int, workload: Workload) -> GroupResult:
    """Measure in local workers that this process starts."""
    with tempfile.TemporaryDirectory(prefix="scalewise-bench-") as folder:
        file = Path(folder) / "result.json"
        config = _points_of(request, workers, workload)[0].config
        config = config.model_copy(update={"cluster": config.cluster.model_copy(update={"max_restarts": 0})})
        group = launch_local(arguments(_for_workers(request, config, file)), config, progress_console().print)
        if file.exists():
            return as_json.validate_json(file.read_bytes())
    if group.exit_code in (None, ExitCode.STOPPED):
        raise Interrupted("the same command measures again")
    raise Failed(group.exit_code, group.said)


def _points_of(request: BenchRequest, workers: int, workload: Workload) -> list[Point]:
    return [point for point in points(request, workload) if point.workers == workers]


def _for_workers(request: BenchRequest, config: Config, file: Path) -> BenchRequest:
    """Return the request for each worker: the same, for one number of workers."""
    threads = f"cluster.threads_per_worker={config.cluster.threads_per_worker}"
    overrides = (*request.overrides, threads)
    return dataclasses.replace(
        request, workers=(config.cluster.workers,), overrides=overrides, as_json=False, group_result=file
    )


def _breakdowns(request: BenchRequest, result: GroupResult, workload: Workload) -> list[Breakdown]:
    group = _points_of(_found(request, result), result.workers, workload)
    return [
        _breakdown(request, point, result, measured) for point, measured in zip(group, result.measured, strict=True)
    ]


def _breakdown(request: BenchRequest, point: Point, result: GroupResult, measured: MeasuredPoint) -> Breakdown:
    recipe, seconds = point.config.recipe, measured.step_seconds
    return Breakdown(
        cluster=request.cluster,
        workers=point.workers,
        global_batch=recipe.global_batch,
        step_seconds=seconds.value,
        low=seconds.low,
        high=seconds.high,
        workers_per_node=result.workers_per_node,
        microbatch=int(recipe.microbatch),
        phases=tuple(measured.phases),
        verdict=verdict(measured.phases)[1],
    )


def _ended(request: BenchRequest, results: Sequence[GroupResult], workload: Workload) -> BenchFile:
    measured = [breakdown for result in results for breakdown in _breakdowns(request, result, workload)]
    speeds = [breakdown.throughput for breakdown in measured]
    lines = speed_series(speeds, request.scaling == "weak")
    device = choose_device(points(request, workload)[0].config.cluster.device, World())
    ended = BenchFile(
        asked=BenchAsked.of(request),
        points=_points_on(lines),
        breakdown=tuple(measured),
        network=tuple(result.network for result in results if result.network is not None),
        versions=versions(),
        hardware=hardware(gpu_name(device)),
        git_commit=git_commit(),
        measured=now(),
    )
    write_throughput(request.out, speeds)
    ended.write(request.out)
    _draw(request.out, lines)
    return ended
