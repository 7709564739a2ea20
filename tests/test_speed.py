"""The step-time model: synthetic clusters whose numbers are known, a published table, and what cannot be predicted."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from processes import ROOT, Finished, group
from scalewise.analysis.ensemble import draw
from scalewise.analysis.speed import NetworkFigures, fit_speed, place_of
from scalewise.analysis.step_time import PARAMETERS, log_step_seconds
from scalewise.record.throughput import Throughput

P100 = ROOT / "examples" / "p100_throughput.csv"
NOISE = 0.02


def predict(*arguments: object) -> Finished:
    return group(1, "predict", *arguments)


def points(values: Sequence[float], places: Sequence[tuple[int, int]], random: np.random.Generator) -> list[Throughput]:
    """Measure a cluster of nodes of four that has these parameters, at places of (workers, examples per worker)."""
    blank = [Throughput("synthetic", w, w * m, 1.0, workers_per_node=min(w, 4)) for w, m in places]
    exact = log_step_seconds(np.array([values]), [place_of(point) for point in blank])[:, 0]
    measured = np.exp(exact + NOISE * random.standard_normal(len(places)))
    return [
        Throughput("synthetic", w, w * m, float(seconds), workers_per_node=min(w, 4))
        for (w, m), seconds in zip(places, measured, strict=True)
    ]


def synthetic_cluster(random: np.random.Generator) -> list[float]:
    """Draw a cluster: a step of a tenth of a second to ten, with links from good to bad."""
    step = 10 ** random.uniform(-1, 1)
    costs = [step * 10 ** random.uniform(low, high) for low, high in ((-3, -1.5), (-2.5, -1), (-3, -1), (-2, -0.5))]
    return [step * random.uniform(0.02, 0.4), step * random.uniform(0.5, 0.95) / 64, *costs, random.uniform(1, 4)]


def test_ninety_percent_intervals_hold_nearly_that_often() -> None:
    random = np.random.default_rng(7)
    held = []
    few = [(w, m) for w in (1, 2, 4, 8) for m in (32, 64, 128)]
    many = [(w, m) for w in (16, 32) for m in (32, 128)]
    for _ in range(40):
        values = synthetic_cluster(random)
        model = fit_speed(points(values, few, random))
        truth = points(values, many, random)
        predictions = model.predict([place_of(point) for point in truth])
        held += [p.low <= point.step_seconds <= p.high for p, point in zip(predictions, truth, strict=True)]
    assert np.mean(held) >= 0.85, f"{np.mean(held):.2f} of {len(held)}"


def test_parameters_are_recovered_where_the_points_show_them() -> None:
    values = dict(zip(PARAMETERS, [0.05, 0.004, 0.002, 0.02, 0.05, 0.1, 1.5], strict=True))
    everywhere = [(w, m) for w in (1, 2, 4, 8, 16, 32, 64) for m in (4, 16, 64, 256)] * 3
    held = []
    for seed in range(10):
        measured = points(list(values.values()), everywhere, np.random.default_rng(seed))
        found = fit_speed(measured).parameters()
        held += [low <= values[name] <= high for name, (_, low, high) in found.items()]
        for name in ("fixed_seconds", "seconds_per_example"):
            assert found[name][0] == pytest.approx(values[name], rel=0.1), (seed, name)
    assert np.mean(held) >= 0.85, f"{np.mean(held):.2f} of {len(held)}"


def test_what_bench_measured_of_the_network_helps_predictions() -> None:
    values = [0.05, 0.004, 0.002, 0.02, 0.05, 0.1, 1.5]
    measured = points(values, [(4, 64), (8, 64)], np.random.default_rng(0))
    figures = NetworkFigures(between_nodes=True, latency_seconds=0.05, transfer_seconds=0.1, workers=2)
    (truth,) = points(values, [(64, 64)], np.random.default_rng(1))
    off = [
        abs(np.log(fit_speed(measured, known).predict([place_of(truth)])[0].step_seconds / truth.step_seconds))
        for known in (None, figures)
    ]
    assert off[1] < off[0]


@pytest.mark.parametrize(
    ("measured", "asked", "why"),
    [
        ([(2, 64), (2, 64)], (4, 64), "one measured point"),
        ([(1, 64), (1, 128)], (2, 64), "only one worker was measured"),
        ([(1, 64), (2, 64), (4, 64)], (8, 64), "only one node was measured"),
        ([(8, 64), (16, 64)], (16, 4096), "too far from the measured points"),
    ],
)
def test_what_points_cannot_carry(measured: list[tuple[int, int]], asked: tuple[int, int], why: str) -> None:
    values = [0.05, 0.004, 0.002, 0.02, 0.05, 0.1, 1.5]
    random = np.random.default_rng(0)
    model = fit_speed(points(values, measured, random))
    (prediction,) = model.predict([place_of(point) for point in points(values, [asked], random)])
    assert prediction.refused is not None and why in prediction.refused


def test_a_published_table_is_predicted_better_than_by_the_same_speed(tmp_path: Path) -> None:
    ended = predict(P100, "--up-to", 8, "--json")
    assert ended.exit_code == 0, ended.output
    content = json.loads(ended.output)
    assert content["mean_error"] < content["mean_error_of_same_speed"]
    assert len(content["predictions"]) == 15
    held = [one["low"] <= one["measured"] <= one["high"] for one in content["predictions"]]
    assert sum(held) >= 13
    assert "horovod_tensorflow, 32 per worker flattens" in content["says"][0]
    shown = predict(P100, "--up-to", 8)
    assert "with the same speed per worker it would be" in shown.output


def test_predictions_need_no_measured_ones_to_compare_with(tmp_path: Path) -> None:
    lines = P100.read_text().splitlines()
    few = tmp_path / "few.csv"
    few.write_text("\n".join([lines[0], *(line for line in lines[1:] if int(line.split(",")[1]) <= 8)]) + "\n")
    content = json.loads(predict(few, "--workers", "16,24,32", "--json").output)
    found = {(one["cluster"], one["workers"], one["global_batch"]): one for one in content["predictions"]}
    assert len(found) == 15
    assert {"step_seconds", "low", "high"} <= found["pytorch", 32, 4096].keys()
    assert "mean_error" not in content


def test_without_a_number_of_workers_the_fit_is_shown_and_what_to_ask_for() -> None:
    shown = predict(P100)
    assert shown.exit_code == 0, shown.output
    assert "seconds per example" in shown.output and "--workers 64,128" in shown.output
    content = json.loads(predict(P100, "--json").output)
    assert content["predictions"] == [] and len(content["fits"]) == 3
    ended = predict("runs", P100)
    assert ended.exit_code == 2 and "unexpected extra argument" in ended.output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cluster,workers,global_batch\na,1,8\n", "no column 'step_seconds'"),
        ("cluster,workers,global_batch,step_seconds\na,1,8,-1\n", "step_seconds=-1 should be a positive number"),
        ("cluster,workers,global_batch,step_seconds,wokers_per_node\na,1,8,1,1\n", "did you mean 'workers_per_node'?"),
    ],
)
def test_bad_throughput_files(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "throughput.csv"
    file.write_text(text)
    ended = predict(file, "--workers", "4")
    assert (ended.exit_code, len(ended.output.splitlines())) == (2, 1)
    assert says in ended.output


def test_nothing_left_to_fit(tmp_path: Path) -> None:
    file = tmp_path / "throughput.csv"
    file.write_text("cluster,workers,global_batch,step_seconds\na,4,8,1\n")
    ended = predict(file, "--up-to", "2")
    assert ended.exit_code == 2 and "at most 2 workers" in ended.output


def test_the_ensemble_draws_from_a_known_gaussian() -> None:
    """A long thin one: strongly correlated, and one side a hundred times as long as the other."""
    mean, covariance = np.array([3.0, -50.0]), np.array([[1.0, 90.0], [90.0, 10_000.0]])
    precision = np.linalg.inv(covariance)
    random = np.random.default_rng(0)

    def log_density(places: NDArray[np.float64]) -> NDArray[np.float64]:
        away = places - mean
        density: NDArray[np.float64] = -0.5 * np.einsum("ij,jk,ik->i", away, precision, away)
        return density

    drawn = draw(log_density, random.standard_normal((4000, 2)), moves=400, random=random)
    deviations = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((drawn.mean(axis=0) - mean) / deviations, 0, atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T) / np.outer(deviations, deviations), [[1, 0.9], [0.9, 1]], atol=0.06)
