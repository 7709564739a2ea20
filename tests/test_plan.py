"""Plans: the published cloud runs come out as they were, and every mistake is reported."""

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

from processes import ROOT, Finished, group
from reading import read_line
from scalewise.config import read_config
from scalewise.plan.plan import plan
from scalewise.plan.statistics import statistics
from scalewise.record.steps import StepsRow
from scalewise.requests import PlanRequest, TrainRequest
from studies import complete, study_request

EXAMPLES = ROOT / "examples"
STEPS = "global_batch,steps,reached,learning_rate\n"
SPEEDS = "cluster,workers,global_batch,step_seconds,workers_per_node\n"


def run_plan(*arguments: object) -> Finished:
    return group(1, "plan", *arguments)


def planned(*arguments: object) -> dict[str, Any]:
    ended = run_plan(*arguments, "--json")
    assert ended.exit_code == 0, ended.output
    content: dict[str, Any] = json.loads(ended.output)
    return content


@pytest.fixture(scope="module")
def cloud_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Convert the published cloud runs with the two lines that the docs give."""
    folder = tmp_path_factory.mktemp("ddsp")
    lines = [line for line in (ROOT / "docs" / "plans.md").read_text().splitlines() if line.startswith("awk")]
    for line in lines:
        subprocess.run(["bash", "-c", line], check=True, cwd=ROOT, env={"OUT": str(folder), "PATH": "/usr/bin:/bin"})
    return folder


@functools.cache
def cloud(folder: Path, *arguments: object) -> dict[str, Any]:
    """Plan with the cloud runs; several tests ask the same."""
    files = ("--steps", folder / "steps.csv", "--throughput", folder / "throughput.csv")
    out = folder / "_".join(map(str, ["plan", *arguments]))
    return planned(*files, "--clusters", EXAMPLES / "ddsp_clusters.yaml", "--out", out, *arguments)


T4 = "T4 1x1,T4 1x2,T4 1x4,T4 2x4,T4 4x2"


def test_the_cloud_runs_on_the_small_gpu(cloud_runs: Path) -> None:
    content = cloud(cloud_runs, "--only", T4)
    fastest, cheapest = content["fastest"], content["cheapest"]
    assert (fastest["cluster"], fastest["global_batch"]) == ("T4 4x2", 128)
    assert fastest["hours"] == pytest.approx(4.2, rel=0.02) and fastest["cost"] == pytest.approx(43.9, rel=0.02)
    assert (cheapest["cluster"], cheapest["global_batch"], cheapest["reliability"]) == ("T4 1x1", 16, 1.0)
    assert cheapest["hours"] == pytest.approx(9.8, rel=0.02) and cheapest["cost"] == pytest.approx(18.6, rel=0.02)


def test_failures_are_paid_for(cloud_runs: Path) -> None:
    content = cloud(cloud_runs, "--only", T4)
    (risky,) = [one for one in content["candidates"] if (one["global_batch"], one["learning_rate"]) == (64, 0.0003)]
    assert risky["reliability"] == pytest.approx(2 / 3)
    # Every two successful runs pay for one failure of 30,000 steps.
    assert risky["expected_steps"] == pytest.approx((20420 + 19320) / 2 + 30000 / 2)
    assert risky["cost"] > content["cheapest"]["cost"]
    reliable = cloud(cloud_runs, "--only", T4, "--reliability", "1.0")
    assert all(one["reliability"] == 1 for one in reliable["candidates"])


def test_the_frontier_with_the_large_gpu(cloud_runs: Path) -> None:
    frontier = cloud(cloud_runs)["frontier"]
    (large,) = [one for one in frontier if one["cluster"] == "V100 2x4"]
    assert large["hours"] == pytest.approx(3.3, rel=0.02) and large["cost"] == pytest.approx(149.6, rel=0.02)
    hours, costs = ([one[key] for one in frontier] for key in ("hours", "cost"))
    assert hours == sorted(hours) and costs == sorted(costs, reverse=True)


def test_budget_and_deadline(cloud_runs: Path) -> None:
    content = cloud(cloud_runs, "--budget", "30", "--deadline", "5")
    assert content["fastest_within_budget"]["cluster"] == "T4 1x2"
    assert content["cheapest_within_deadline"]["cluster"] == "T4 4x2"
    assert cloud(cloud_runs, "--budget", "1")["fastest_within_budget"] is None


def test_what_is_recommended_is_ready_to_run(cloud_runs: Path) -> None:
    fastest = cloud(cloud_runs, "--only", T4)["fastest"]
    recipe = yaml.safe_load(Path(fastest["recipe"]).read_text())["recipe"]
    assert (recipe["global_batch"], recipe["learning_rate"], recipe["microbatch"]) == (128, 0.001, 16)
    assert fastest["command"].startswith("torchrun --nnodes 4 --nproc-per-node 2")
    for picture in ("plan.png", "scaling.png"):
        Image.open(Path(fastest["recipe"]).parents[1] / picture).verify()


def test_its_commands_can_be_copied(tmp_path: Path) -> None:
    """Whatever the names: a semicolon, a comment or a space in them must not end the command."""
    folder = tmp_path / "a; touch b #'"
    folder.mkdir()
    steps, speeds, clusters = (folder / name for name in ("steps.csv", "throughput.csv", "clusters.yaml"))
    steps.write_text(STEPS + "16,1000,1,0.1\n")
    speeds.write_text(SPEEDS + "c,1,16,0.1,1\nc,2,16,0.06,1\n")
    clusters.write_text("- {name: c, nodes: 1..2, price_per_hour: 1}\n")
    asked = PlanRequest(clusters=clusters, steps=steps, throughput=speeds, out=folder / "plan")
    commands = [one.command for one in plan(asked).recommended]
    assert [command.split()[0] for command in commands] == ["torchrun", "scalewise"]
    recipes = [folder / "plan" / name / "run.yaml" for name in ("fastest", "cheapest")]
    assert [read_line(command) for command in commands] == [
        TrainRequest(workload="WORKLOAD", recipe=str(recipes[0])),
        TrainRequest(workload="WORKLOAD", recipe=str(recipes[1]), workers=1),
    ]


def test_fixed_epochs_carry_their_accuracy_along(tmp_path: Path) -> None:
    steps = tmp_path / "steps.csv"
    runs = [line.split(",") for line in (EXAMPLES / "resnet50_quality.csv").read_text().splitlines()[1:]]
    rows = [f"{run[5]},{90 * 1281167 / int(run[5])},true,{run[3]},{run[7]}" for run in runs]
    steps.write_text("\n".join([f"{STEPS.strip()},accuracy", *rows]) + "\n")
    files = ("--throughput", EXAMPLES / "p100_throughput.csv", "--clusters", EXAMPLES / "p100_clusters.yaml")
    content = planned("--steps", steps, *files, "--out", tmp_path / "plan")
    hours = {
        workers: min(one["hours"] for one in content["candidates"] if one["workers"] == workers)
        for workers in (1, 8, 16, 32)
    }
    published = {1: 148.267, 8: 20.583, 16: 11.25, 32: 6.55}  # with evaluation, which is not training time
    for workers, there in published.items():
        assert 0.75 * there < hours[workers] < 1.05 * there
    assert content["cheapest"] is None and "about time only" in " ".join(content["says"])
    assert content["fastest"]["accuracy"] == pytest.approx(74.26, abs=0.01)


def test_a_run_that_was_stopped_too_early_is_no_failure() -> None:
    rows = [StepsRow(16, 40_000, True), StepsRow(16, 30_000, False), StepsRow(16, 50_000, False)]
    (known,) = statistics(rows).known
    assert (known.reliability, known.runs, known.expected_steps) == (0.5, 2, 90_000)


def test_batches_between_measured_ones_are_predicted(tmp_path: Path) -> None:
    steps, speeds, clusters = (tmp_path / name for name in ("steps.csv", "throughput.csv", "clusters.yaml"))
    rows = [f"{batch},{100 * (1 + 512 / batch):.0f},1,{0.001 * batch}" for batch in (16, 64, 256, 2048)]
    steps.write_text(STEPS + "\n".join(rows) + "\n")
    speeds.write_text(SPEEDS + "".join(f"c,{w},{w * m},{0.01 + 0.001 * m},{w}\n" for w in (1, 2) for m in (8, 64, 512)))
    clusters.write_text("- {name: c, workers_per_node: 2, price_per_hour: 1}\n")
    content = planned("--steps", steps, "--throughput", speeds, "--clusters", clusters, "--out", tmp_path / "plan")
    (between,) = [one for one in content["candidates"] if one["global_batch"] == 512]
    assert between["predicted"] and between["steps"] == pytest.approx(200, rel=0.02)
    assert 0.256 < between["learning_rate"] < 2.048
    assert 128 in {one["global_batch"] for one in content["candidates"]}


def small(tmp_path: Path, **changed: str) -> list[object]:
    """Write the files of a small plan, some of them changed; return the arguments that name them."""
    texts = {
        "steps": STEPS + "16,100,1,0.1\n64,40,1,0.2\n",
        "throughput": SPEEDS + "c,1,16,0.1,1\nc,1,64,0.3,1\nc,2,64,0.2,2\n",
        "clusters": "- {name: c, price_per_hour: 1}\n",
    }
    arguments: list[object] = ["--out", tmp_path / "plan"]
    for name, text in {**texts, **changed}.items():
        file = tmp_path / f"{name}.txt"
        file.write_text(text)
        arguments += [f"--{name}", file]
    return arguments


BAD = {
    "two currencies": (
        {"clusters": "- {name: c, price_per_hour: 1, currency: EUR}\n- {name: d, price_per_hour: 1, currency: USD}\n"},
        "different currencies, EUR (c) and USD (d)",
    ),
    "negative price": ({"clusters": "- {name: c, price_per_hour: -1}\n"}, "price_per_hour=-1"),
    "no nodes": ({"clusters": "- {name: c, nodes: 0}\n"}, "nodes=0: should be a positive whole number or a range"),
    "backwards": ({"clusters": "- {name: c, nodes: 4..2}\n"}, "nodes='4..2'"),
    "unknown key": ({"clusters": "- {name: c, price: 1}\n"}, "price is not a known key; the keys are name, nodes"),
    "no name": ({"clusters": "- {nodes: 1}\n"}, "name"),
    "no list": ({"clusters": "name: c\n"}, "should hold 'clusters:'"),
    "not YAML": ({"clusters": "- {\n"}, "not valid YAML"),
    "no speed": ({"clusters": "- {name: d}\n"}, "there is no measured speed of the cluster 'd'"),
    "nothing reached": ({"steps": STEPS + "16,100,0,0.1\n"}, "no run reached the target"),
    "no steps": ({"steps": STEPS + "16,0,1,0.1\n"}, "steps=0 should be a positive number"),
    "unknown column": ({"steps": "global_batch,steps,reached,sed\n16,1,1,1\n"}, "did you mean 'seed'?"),
    "negative time": ({"throughput": SPEEDS + "c,1,16,-0.1,1\n"}, "step_seconds=-0.1"),
    "one point elsewhere": (
        {"throughput": SPEEDS + "c,1,128,0.1,1\n"},
        "one measured point is not enough: measure another batch",
    ),
    "a link without bytes": (
        {"clusters": "- {name: c, nodes: 2, link: {latency_seconds: 1e-4, gigabits_per_second: 10}}\n"},
        "size of the gradients",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(tmp_path: Path, name: str) -> None:
    changed, says = BAD[name]
    ended = run_plan(*small(tmp_path, **changed))
    assert (ended.exit_code, len(ended.output.splitlines())) == (2, 1), ended.output
    assert says in ended.output
    assert not (tmp_path / "plan").exists()


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--deadline", "0", "--deadline 0 must be greater than 0"),
        ("--budget", "-3", "--budget -3 must be greater than 0"),
        ("--reliability", "1.5", "between 0 and 1"),
        ("--only", "x", "has no cluster 'x'; there are c"),
        ("--study", "somewhere", "either --study"),
        ("--bench", "somewhere", "either --bench"),
    ],
)
def test_bad_options(tmp_path: Path, option: str, value: str, says: str) -> None:
    ended = run_plan(*small(tmp_path), option, value)
    assert ended.exit_code == 2 and says in ended.output, ended.output


def test_one_point_says_what_it_can(tmp_path: Path) -> None:
    content = planned(*small(tmp_path, throughput=SPEEDS + "c,1,16,0.1,1\n"))
    assert [(one["global_batch"], one["predicted"]) for one in content["candidates"]] == [(16, False)]


def test_ranges_and_their_prices(tmp_path: Path) -> None:
    clusters = "- {name: c, nodes: 2..4, price_per_hour: 6}\n- {name: d, speed: c}\n"
    speeds = SPEEDS + "".join(f"c,{w},{b},{0.01 + 0.1 / w},1\n" for w in (1, 2, 3, 4) for b in (16, 64))
    content = planned(*small(tmp_path, clusters=clusters, throughput=speeds))
    found = {(one["nodes"], one["global_batch"]): one for one in content["candidates"]}
    assert found[2, 16]["cost"] == pytest.approx(6 * found[2, 16]["hours"])
    assert found[4, 16]["cost"] == pytest.approx(12 * found[4, 16]["hours"])
    assert found[1, 16]["cost"] is None


def test_a_plan_from_a_study_and_a_bench(tmp_path: Path) -> None:
    complete(study_request(tmp_path / "study", trials=3, target="val/classification_error<0.5", max_epochs=3.0))
    sizes = ("--workers", "1", "--microbatch", "32,128")
    benched = group(1, "bench", "digits/fc_16", *sizes, "--seconds", 0.5, "--out", tmp_path / "bench")
    assert benched.exit_code == 0, benched.output
    clusters = tmp_path / "clusters.yaml"
    clusters.write_text("- {name: local, price_per_hour: 0.1, currency: EUR}\n")
    folders = ("--study", tmp_path / "study", "--bench", tmp_path / "bench")
    content = planned(*folders, "--clusters", clusters, "--out", tmp_path / "plan")
    config = read_config(Path(content["fastest"]["recipe"]))
    assert config.workload == "digits/fc_16" and config.recipe.global_batch == content["fastest"]["global_batch"]
    assert str(config.stop.target) == "val/classification_error<0.5"


def test_ten_thousand_candidates(tmp_path: Path) -> None:
    steps, speeds, clusters = (tmp_path / name for name in ("steps.csv", "throughput.csv", "clusters.yaml"))
    rows = [f"{batch},{100 * (1 + 4096 / batch):.1f},1,{rate}" for batch in range(1000, 1500) for rate in (0.1, 0.2)]
    steps.write_text(STEPS + "\n".join(rows) + "\n")
    speeds.write_text(SPEEDS + "".join(f"c,{w},{w * m},{0.01 + 0.001 * m},1\n" for w in (1, 2, 4) for m in (64, 512)))
    clusters.write_text("- {name: c, nodes: 1..10, price_per_hour: 1}\n")
    asked = PlanRequest(clusters=clusters, steps=steps, throughput=speeds, out=tmp_path / "plan")
    assert len(plan(asked).candidates) >= 10_000
