"""Steps to target and the critical batch size: from studies in the public layout, and from a plain table."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from processes import Finished, group
from scalewise.analysis.archive import Skipped, read_archive
from scalewise.analysis.critical import CurvePoint, NoFit, fit_critical_batch
from scalewise.analysis.curve import Region, make_curve
from scalewise.analysis.outcomes import DECIDING_TRIALS, Outcome, steps_to_target
from scalewise.analysis.student import log_tail_of_four, quantile
from studies import MEASUREMENTS_HEADER, write_study

BATCH_SIZES = [8 * 2**power for power in range(11)]


def analyze(*arguments: object) -> Finished:
    return group(1, "analyze", *arguments)


def test_the_layouts_rule_to_the_letter(tmp_path: Path) -> None:
    trials = {
        0: ["0,0.9,0.9", "10,0.1,0.02", "20,0.1,0.5"],  # diverged later: does not count
        3: ["0,0.9,0.9", "20,0.1,0.03", "30,0.1,0.029", "40,0.1,0.5"],  # 0.03 is not below 0.03; need not stay below
        7: ["0,0.9,nan", "30,0.1,0.01", "30,0.1,0.01"],  # as early, but the larger number
        12: ["0,0.9,0.9", "100,0.1,0.04"],
    }
    write_study(tmp_path, 64, trials, {0: "INFEASIBLE"})
    write_study(tmp_path, 128, {0: ["0,0.9,0.9", "50,0.1,0.1"]})
    ended = analyze(tmp_path, "--target", "val/classification_error<0.03", "--step-budget", 35, "--json")
    assert ended.exit_code == 0, ended.output
    content = json.loads(ended.output)
    (row,) = content["steps_to_target"]
    assert (row["batch_size"], row["steps"], row["trial_id"]) == (64, 30, 3)
    assert (row["low"], row["high"]) == (30, None)  # of three trials only two have reached it
    assert (row["trials"], row["infeasible"], row["effective_learning_rate"]) == (4, 1, pytest.approx(0.8))
    (unreached,) = content["not_reached"]
    assert (unreached["batch_size"], unreached["tried_steps"]) == (128, 100)
    best = content["best_within_budget"][0]
    assert (best["value"], best["trial_id"]) == (0.01, 7)
    assert content["critical_batch"]["form_fits"] is False
    with Image.open(tmp_path / "_scalewise" / "analysis" / "steps.png") as picture:
        assert picture.width > 1000


def test_several_targets_side_by_side(tmp_path: Path) -> None:
    for size in (8, 16):
        write_study(tmp_path, size, {0: ["0,0.9,0.9", f"{400 // size},0.1,0.3", f"{800 // size},0.1,0.1"]})
    targets = ("--target", "val/classification_error<0.5", "--target", "val/classification_error<0.2")
    ended = analyze(tmp_path, *targets, "--json", "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.output
    workloads = json.loads(ended.output)["workloads"]
    assert [[row["steps"] for row in one["steps_to_target"]] for one in workloads] == [[50, 25], [100, 50]]
    assert (tmp_path / "out" / "steps_together.png").exists()


@pytest.mark.parametrize("damage", ["high", "#", "\0"])
def test_damage_is_named_also_where_nobody_asked_for_its_column(tmp_path: Path, damage: str) -> None:
    good = ["0,0.9,0.9", "10,0.1,0.02"]
    folder = write_study(tmp_path, 64, dict.fromkeys(range(3), good))
    (folder / "1" / "measurements.csv").write_text(f"{MEASUREMENTS_HEADER}\n0,0.9,0.9\n10,{damage},0.02\n")
    wanted = MEASUREMENTS_HEADER.split(",")[-1]
    skipped: list[Skipped] = []
    (study,) = read_archive(tmp_path, lambda _: [wanted], skipped)
    assert [trial.trial_id for trial in study.trials] == [0, 2]
    assert [item.path.parent.name for item in skipped] == ["1"]


def test_what_is_damaged_is_left_out_and_named(tmp_path: Path) -> None:
    good = ["0,0.9,0.9", "10,0.1,0.02"]
    folder = write_study(tmp_path, 64, dict.fromkeys(range(6), good))
    (folder / "1" / "measurements.csv").write_text(f"{MEASUREMENTS_HEADER}\n0,0.9,0.9\n10,0.1")
    (folder / "2" / "measurements.csv").write_text(f"{MEASUREMENTS_HEADER}\n0,high,0.9\n")
    (folder / "3" / "metadata.json").write_text('{"status": "COMPL')
    (folder / "4" / "measurements.csv").write_bytes(b"")  # a trial that was never measured
    (folder / "plots").mkdir()
    (tmp_path / "mnist" / "fc_64" / "sgd" / "128").mkdir()
    (tmp_path / "mnist" / "fc_64" / "sgd" / "128" / "study.json").write_text("[]")
    skipped: list[Skipped] = []
    (study,) = read_archive(tmp_path, None, skipped)
    assert [trial.trial_id for trial in study.trials] == [0, 4, 5]
    assert sorted(set(study.measurements["trial_id"])) == [0, 5]
    names = {item.path.relative_to(tmp_path / "mnist" / "fc_64" / "sgd").as_posix() for item in skipped}
    assert names == {"64/1/measurements.csv", "64/2/measurements.csv", "64/3", "64/plots", "128"}
    ended = analyze(tmp_path)
    assert ended.exit_code == 0, ended.output
    assert "5 could not be read and were left out" in ended.output


def test_many_studies_are_read_on_all_cores_and_in_order(tmp_path: Path) -> None:
    for batch_size in range(1, 71):
        write_study(tmp_path, batch_size, {0: ["0,0.9,0.9", f"{1000 // batch_size},0.1,0.02"]})
    (tmp_path / "mnist" / "fc_64" / "sgd" / "7" / "0" / "measurements.csv").write_text("step\n\n0,1,2\n")
    skipped: list[Skipped] = []
    found = {study.batch_size: study.measurements["step"].max() for study in read_archive(tmp_path, None, skipped)}
    assert list(found) == list(range(1, 71))
    assert {size: steps for size, steps in found.items() if size != 7} == {
        size: 1000 // size for size in range(1, 71) if size != 7
    }
    assert [item.path.parent.parent.name for item in skipped] == ["7"]


def test_a_table_of_steps_from_anywhere(tmp_path: Path) -> None:
    lines = [f"{batch},{100 * (1 + 300 / batch)},true" for batch in BATCH_SIZES]
    (tmp_path / "steps.csv").write_text("\n".join(["global_batch,steps,reached", *lines, "4,2000,false", ""]))
    ended = analyze("--steps", tmp_path / "steps.csv", "--json", "--out", tmp_path / "out")
    assert ended.exit_code == 0, ended.output
    content = json.loads(ended.output)
    critical = content["critical_batch"]
    assert critical["value"] == pytest.approx(300, rel=0.02)
    assert critical["low"] < 300 < critical["high"]
    assert critical["s_min"] == pytest.approx(100, rel=0.02)
    assert critical["form_fits"]
    assert content["overhead_20_percent"]["value"] == pytest.approx(60, rel=0.02)
    assert [row["batch_size"] for row in content["not_reached"]] == [4]
    regions = {row["batch_size"]: row["region"] for row in content["steps_to_target"]}
    assert (regions[8], regions[256], regions[8192]) == tuple(Region)


@pytest.mark.parametrize("noise, points", [(0.05, 11), (0.15, 11), (0.1, 8)])
def test_the_interval_covers_the_truth(noise: float, points: int) -> None:
    """Points with errors, some missing, some far off, one that never got there."""
    draws = np.random.default_rng(points)
    covered = 0
    for _ in range(100):
        critical = float(np.exp(draws.uniform(np.log(64), np.log(1024))))
        found = []
        for batch in BATCH_SIZES[:points]:
            steps = 100 * (1 + critical / batch) * np.exp(noise * draws.standard_normal())
            if draws.random() < 0.1:
                steps *= draws.choice([0.5, 2.0])
            if draws.random() > 0.1:
                found.append(CurvePoint(batch, steps))
        found.append(CurvePoint(4, 25 * critical * draws.uniform(0.3, 0.9), reached=False))
        fit = fit_critical_batch(found)
        covered += (fit.low or 0) <= critical <= (fit.high or np.inf)
    assert covered >= 90


def test_other_forms_are_not_given_a_number() -> None:
    square_root = fit_critical_batch([CurvePoint(batch, 1e5 / batch**0.5) for batch in BATCH_SIZES])
    assert isinstance(square_root, NoFit) and not square_root.form_fits
    assert "raised to" in square_root.says
    few = fit_critical_batch([CurvePoint(8, 100), CurvePoint(16, 50)])
    assert few == NoFit("at least 3 batch sizes must reach the target to fit a curve")


def test_curves_that_never_bend_have_a_bound_instead() -> None:
    perfect = fit_critical_batch([CurvePoint(batch, 1e6 / batch) for batch in BATCH_SIZES])
    assert isinstance(perfect, NoFit) and perfect.form_fits and perfect.high is None
    assert perfect.low is not None and perfect.low > 8192
    assert "scales perfectly" in perfect.says
    flat = fit_critical_batch([CurvePoint(batch, 100) for batch in BATCH_SIZES])
    assert isinstance(flat, NoFit) and flat.low is None
    assert flat.high is not None and flat.high < 8


def test_drawing_trials_again_needs_no_simulation() -> None:
    """The interval from the best trials equals that of drawing trials with repetition."""
    steps = np.sort(np.random.default_rng(1).uniform(100, 1000, 30))
    drawn = np.random.default_rng(2).choice(steps, (20_000, 30)).min(axis=1)
    row = steps_to_target(64, [Outcome(number, step, 1000) for number, step in enumerate(steps)])
    assert (row.low, row.high) == tuple(np.quantile(drawn, [0.05, 0.95], method="inverted_cdf"))
    assert DECIDING_TRIALS == 3


def test_where_the_form_does_not_fit_regions_go_by_the_points() -> None:
    rows = [steps_to_target(batch, [Outcome(0, 1e4 / batch**0.5, 1e5)]) for batch in BATCH_SIZES]
    curve = make_curve("x", None, rows)
    assert [curve.region(row) for row in curve.rows] == [Region.PERFECT, *9 * [Region.DIMINISHING], Region.MAXIMAL]
    assert curve.overhead.by == "points"


@pytest.mark.parametrize(
    "table, message",
    [
        ("global_batch,steps\n8,100\n", "has no column 'reached'"),
        ("global_batch,steps,reached\n", "has no rows"),
        ("global_batch,steps,reached\n8,-3,true\n", "line 2: steps=-3 should be a positive number"),
        ("global_batch,steps,reached\n8.5,3,true\n", "should be a positive whole number"),
        ("global_batch,steps,reached\n8,3,maybe\n", "reached='maybe' should be true or false"),
    ],
)
def test_mistakes_in_a_table(table: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(table)
    ended = analyze("--steps", tmp_path / "steps.csv", "--out", tmp_path / "out")
    assert (ended.exit_code, message in ended.output) == (2, True), ended.output
    assert not (tmp_path / "out").exists()


def test_mistakes_in_a_request(tmp_path: Path) -> None:
    write_study(tmp_path / "studies", 64, {0: ["0,0.9,0.9"]})
    requests: list[tuple[list[object], str]] = [
        ([], "either a folder of studies, or --steps with a steps.csv"),
        ([tmp_path / "nowhere"], "is not a folder"),
        ([tmp_path / "studies" / "mnist" / "fc_64" / "sgd" / "64" / "0"], "there is no study below"),
        ([tmp_path / "studies", "--target", "val/classification_eror<0.1"], "did you mean 'val/classification_error'?"),
        ([tmp_path / "studies", "--target", "low"], "is not like"),
        ([tmp_path / "studies", "--epoch-budget", 2], "train_examples"),
    ]
    for arguments, message in requests:
        ended = analyze(*arguments)
        assert (ended.exit_code, message in ended.output) == (2, True), ended.output


def test_students_distribution_is_scipys() -> None:
    freedoms = (1, 2, 3, 4, 7, 10, 99, 500)
    for probability in (0.75, 0.975, 0.9995):
        ours = [quantile(probability, freedom) for freedom in freedoms]
        # By what lies beyond: older versions of SciPy have quantiles of fewer digits.
        np.testing.assert_allclose(stats.t.sf(ours, freedoms), 1 - probability, rtol=1e-11)
    values = np.linspace(-20, 60, 161)
    np.testing.assert_allclose(log_tail_of_four(values), stats.t.logsf(values, 4), rtol=1e-9)
