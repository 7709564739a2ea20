"""The bench: speeds with intervals, where the time goes, and figures measured elsewhere."""

import json
import time
from pathlib import Path

import pytest
import torch
from PIL import Image

from limits import little_memory, slow_network
from processes import NETS, ROOT, Finished, finish, group, scalewise, start
from scalewise.bench.medians import median
from scalewise.bench.phases import seconds_by_phase
from scalewise.bench.verdict import Verdict, verdict
from scalewise.cluster.world import World
from scalewise.config import load_config
from scalewise.record.results.bench import BenchFile, Phase
from scalewise.record.throughput import read_throughput, speed_series
from scalewise.run.build import build_loop, resolved
from scalewise.workloads.find import find_workload

P100 = ROOT / "examples" / "p100_throughput.csv"
DIGITS = "digits/fc_64_64"


def test_the_published_speedups_come_out(tmp_path: Path) -> None:
    ended = group(1, "bench", "--from", P100, "--out", tmp_path, "--json")
    assert ended.exit_code == 0, ended.output
    points = json.loads(ended.output)["points"]
    at_32 = [round(point["speedup"], 1) for point in points if point["workers"] == 32]
    assert at_32 == [22.7, 26.5, 26.7, 27.5, 29.4]
    with Image.open(tmp_path / "speedup.png") as picture:
        assert picture.width > 1000


def test_two_workers_are_measured_with_an_interval(tmp_path: Path) -> None:
    ended = scalewise("bench", DIGITS, "--microbatch", "16,64", "--seconds", 0.5, "--out", tmp_path)
    assert ended.exit_code == 0, ended.output
    points = read_throughput(tmp_path / "throughput.csv")
    assert [(point.workers, point.global_batch) for point in points] == [(1, 16), (1, 64), (2, 32), (2, 128)]
    for point in points:
        assert point.low is not None and point.high is not None
        assert 0 < point.low <= point.step_seconds <= point.high
    content = json.loads((tmp_path / "bench.json").read_text())
    (network,) = content["network"]
    assert network["workers"] == 2 and network["messages"][0]["size_bytes"] == 1000
    assert "network between 2 workers: all-reduce latency" in ended.output
    breakdown = content["breakdown"]
    assert [len(point["phases"]) for point in breakdown] == [1, 1, 2, 2]
    assert all(point["verdict"].split(":")[0] in set(Verdict) for point in breakdown)
    assert "speedup" in ended.output and "verdict" not in ended.output


def test_strong_scaling_keeps_the_global_batch(tmp_path: Path) -> None:
    arguments = ("--scaling", "strong", "--microbatch", "16", "--seconds", 0.5, "--out", tmp_path)
    ended = group(1, "bench", DIGITS, *arguments, "--set", "recipe.global_batch=96", "--synthetic", "--trace")
    assert ended.exit_code == 0, ended.output
    points = read_throughput(tmp_path / "throughput.csv")
    assert [(point.workers, point.global_batch) for point in points] == [(1, 96), (2, 96)]
    assert [line.name for line in speed_series(points, weak=False)] == ["local, 96 in all"]
    trace = json.loads((tmp_path / "trace-2-16-worker1.json").read_text())
    assert trace["traceEvents"]


def test_under_a_launcher_its_workers_are_measured(tmp_path: Path) -> None:
    ended = group(2, "bench", f"{NETS}:BatchNorm", "--workers", 2, "--seconds", 0.5, "--out", tmp_path)
    assert ended.exit_code == 0, ended.output
    assert [point.workers for point in read_throughput(tmp_path / "throughput.csv")] == [2]


def test_under_a_launcher_the_microbatch_that_was_found_is_noted(tmp_path: Path) -> None:
    arguments = ("--workers", 2, "--microbatch", "auto", "--seconds", 0.5, "--out", tmp_path)
    ended = group(2, "bench", DIGITS, *arguments)
    assert ended.exit_code == 0, ended.output
    found = BenchFile.read(tmp_path)
    assert found.asked is not None and found.asked.microbatches == (found.breakdown[0].microbatch,)


def test_a_straggler_is_found(tmp_path: Path) -> None:
    env = {"SCALEWISE_TEST_SLOW_RANK": "1"}
    ended = group(2, "bench", f"{NETS}:Slow", "--workers", 2, "--seconds", 1, "--out", tmp_path, env=env)
    assert ended.exit_code == 0, ended.output
    (point,) = json.loads((tmp_path / "bench.json").read_text())["breakdown"]
    assert point["verdict"].startswith("straggler: ") and "for worker 1" in point["verdict"]


def test_a_slow_network_is_found_and_measured(tmp_path: Path) -> None:
    arguments = ("bench", "fashion_mnist/fc_256", "--workers", 2, "--seconds", 4, "--out", tmp_path)
    place = {"WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "10.77.0.1"}
    env = {**place, "MASTER_PORT": "29500", "GLOO_SOCKET_IFNAME": "cable"}
    with slow_network("50mbit") as ends:
        chief, other = (start(*arguments, env={**env, "RANK": str(rank)}, within=end) for rank, end in enumerate(ends))
        ended = finish(chief)
        finish(other)
    assert ended.exit_code == 0, ended.output
    content = json.loads((tmp_path / "bench.json").read_text())
    assert content["breakdown"][0]["verdict"].startswith(Verdict.SYNCHRONISATION)
    assert content["points"][0]["workers_per_node"] == 1
    assert content["network"][0]["bytes_per_second"] < 1.2 * 50e6 / 8  # a little of it is in the first burst


def test_the_largest_microbatch_is_found_where_more_would_end_the_process(tmp_path: Path) -> None:
    arguments = ("--microbatch", "auto", "--workers", 2, "--seconds", 1, "--out", tmp_path)
    with little_memory(1_600_000_000) as within:
        ended = scalewise("bench", f"{NETS}:Hungry", *arguments, within=within)
    assert ended.exit_code == 0, ended.output
    (point,) = read_throughput(tmp_path / "throughput.csv")
    assert point.microbatch is not None
    assert 16 < point.microbatch < 500
    assert point.global_batch == 2 * point.microbatch


def test_where_memory_is_plenty_all_examples_fit(tmp_path: Path) -> None:
    ended = group(1, "bench", DIGITS, "--microbatch", "auto", "--workers", 1, "--seconds", 0.5, "--out", tmp_path)
    assert ended.exit_code == 0, ended.output
    assert read_throughput(tmp_path / "throughput.csv")[0].microbatch == 1297


def test_the_breakdown_adds_up_to_the_step() -> None:
    workload = find_workload(DIGITS)
    config = resolved(load_config(DIGITS, workload.defaults, None, []), workers=1)
    parts = build_loop(config, workload, World(), torch.device("cpu"), lambda: False).parts
    seconds_by_phase(parts, 20)
    started = time.perf_counter()
    found = seconds_by_phase(parts, 300)
    assert sum(found.values()) == pytest.approx((time.perf_counter() - started) / 300, rel=0.03)


def phases(data: float, compute: float, waiting: float, synchronisation: float) -> dict[Phase, float]:
    return {
        Phase.DATA: data,
        Phase.COMPUTE: compute,
        Phase.WAITING: waiting,
        Phase.SYNCHRONISATION: synchronisation,
        Phase.UPDATE: 0.02,
    }


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([phases(0.02, 0.9, 0.0, 0.0)], Verdict.COMPUTE),
        ([phases(0.5, 0.5, 0.0, 0.0)], Verdict.INPUT),
        ([phases(0.02, 0.5, 0.0, 0.5)] * 2, Verdict.SYNCHRONISATION),
        ([phases(0.02, 0.5, 0.4, 0.1), phases(0.02, 0.9, 0.0, 0.1)], Verdict.STRAGGLER),
        ([phases(0.02, 0.5, 0.4, 0.1), phases(0.5, 0.42, 0.0, 0.1)], Verdict.INPUT),
        ([phases(0.02, 0.85, 0.05, 0.1), phases(0.02, 0.9, 0.0, 0.1)], Verdict.COMPUTE),
    ],
)
def test_verdicts(workers: list[dict[Phase, float]], expected: Verdict) -> None:
    assert verdict(workers)[0] is expected


def test_the_interval_of_a_median_narrows_with_more_samples() -> None:
    few, many = (median([float(value % 10) for value in range(count)]) for count in (10, 1000))
    assert few.low < many.low <= many.value <= many.high < few.high


def refused(ended: Finished, words: str) -> None:
    assert ended.exit_code == 2, ended.output
    assert ended.output.startswith("scalewise: ") and ended.output.count("\n") == 1, ended.output
    assert words in ended.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([DIGITS, "--seconds", "0"], "--seconds 0 must be greater than 0"),
        ([DIGITS, "--workers", "1,0"], "--workers '1,0' should be different positive whole numbers"),
        ([DIGITS, "--workers", "2,2"], "different positive"),
        ([DIGITS, "--scaling", "week"], "did you mean 'weak'"),
        ([DIGITS, "--scaling", "strong", "--workers", "1,8", "--microbatch", "16"], "cannot feed 8 workers"),
        (["--from", "no/such.csv"], "cannot read no/such.csv"),
        ([], "bench needs WORKLOAD or --from FILE"),
        ([DIGITS, "--from", "throughput.csv"], "not both"),
    ],
)
def test_mistakes(arguments: list[str], words: str, tmp_path: Path) -> None:
    refused(group(1, "bench", *arguments, "--out", tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("cluster,workers,global_batch\na,1,8\n", "has no column 'step_seconds'"),
        ("cluster,workers,global_batch,step_seconds\na,1,8,-0.5\n", "line 2: step_seconds=-0.5 should be a positive"),
        ("cluster,workers,global_batch,step_seconds\na,1,8,\n", "line 2: step_seconds='' is not a number"),
        ("cluster,workers,global_batch,step_seconds\na,1.5,8,1\n", "workers=1.5 should be a positive whole number"),
        ("cluster,workers,global_batch,step_seconds\n", "has no rows"),
    ],
)
def test_a_bad_file_is_refused_and_nothing_is_written(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(content)
    refused(group(1, "bench", "--from", tmp_path / "bad.csv", "--out", tmp_path / "out"), words)
    assert not (tmp_path / "out").exists()
