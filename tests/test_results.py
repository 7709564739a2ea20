"""The files that commands leave: typed, numbered, read again as they were written, and those of version 0.1.0 too."""

import json
import shutil
from pathlib import Path

import pytest

import scalewise
from processes import group
from reading import read_line
from scalewise.advise.findings import Speed
from scalewise.errors import DataError, FolderError
from scalewise.plan.bench_folder import read_bench
from scalewise.record.results.advise import AdviseFile
from scalewise.record.results.analysis import AnalysisFile
from scalewise.record.results.bench import BenchFile, Phase
from scalewise.record.results.file import ResultFile
from scalewise.record.results.plan import Choice, PlanAsked, PlanFile
from scalewise.record.throughput import throughput_in, write_throughput
from scalewise.report.report import report
from scalewise.requests import BenchRequest, PlanRequest, ReportRequest

OLD = Path(__file__).parent / "version_0_1_0"
"""Folders that version 0.1.0 left."""
FILES: dict[str, type[ResultFile]] = {
    "bench": BenchFile,
    "plan": PlanFile,
    "advise": AdviseFile,
    "analysis": AnalysisFile,
    "advise/bench": BenchFile,
    "advise/plan": PlanFile,
}
REPORTED = {"bench": "bench.json", "plan": "plan.json", "advise": "advise.json"}
DEEP = 100_000


def old(tmp_path: Path, name: str) -> Path:
    return Path(shutil.copytree(OLD / name, tmp_path / name))


def change(folder: Path, kind: type[ResultFile], **values: object) -> None:
    file = folder / kind.file_name
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def test_a_bench_of_version_0_1_0() -> None:
    found = BenchFile.read(OLD / "bench")
    assert found.asked is not None
    asked = BenchRequest(workload="digits/fc_64", seconds=1.0, out=Path("NEW"))
    assert found.asked.request(Path("NEW")) == asked
    assert [(point.workers, point.global_batch) for point in found.points] == [(1, 64), (2, 128)]
    assert found.points[0].speedup == 1.0
    assert [len(point.phases) for point in found.breakdown] == [1, 2]
    assert set(found.breakdown[1].phases[0]) == set(Phase)
    assert [point.throughput for point in found.breakdown] == throughput_in(OLD / "bench")
    (network,) = found.network
    assert network.workers == 2 and network.messages[0].size_bytes == 1000
    assert found.versions["scalewise"] == "0.1.0" and found.hardware["cores"] == 2
    assert [line.name for line in found.series()] == ["local, 64 per worker"]


def test_a_plan_of_version_0_1_0() -> None:
    found = PlanFile.read(OLD / "plan")
    assert found.asked is not None
    asked = {"steps": Path("steps.csv"), "throughput": Path("throughput.csv"), "clusters": Path("clusters.yaml")}
    limits = {"deadline_hours": 1.0, "budget": 0.0001}
    assert found.asked.request(Path("NEW")) == PlanRequest(**asked, **limits, out=Path("NEW"))  # type: ignore[arg-type]
    assert list(found.choices) == ["fastest", "cheapest", "cheapest_within_deadline"]
    assert found.fastest is not None and found.fastest.command is not None
    assert found.fastest.command.startswith("torchrun --nnodes 2")
    assert len(found.candidates) > 10 and set(found.frontier) <= set(found.candidates)
    (curve,) = found.scaling
    assert {point.cluster for point in curve.points} == {"dear"} and curve.worth_up_to == 128
    assert found.left_out[0].startswith("dear with 4096 nodes is left out")


def test_advice_and_an_analysis_of_version_0_1_0() -> None:
    advice = AdviseFile.read(OLD / "advise")
    assert (advice.workload, advice.target) == ("digits/fc_64", None) and len(advice.says) >= 5
    (found,) = AnalysisFile.read(OLD / "analysis").workloads
    assert [row.batch_size for row in found.steps_to_target] == [16, 64, 256]
    assert found.steps_to_target[1].parameters == {"learning_rate": 0.1}
    assert found.overhead_20_percent.by == "fit" and found.critical_batch.form_fits


def test_version_0_1_0_is_reported(tmp_path: Path) -> None:
    folders = tuple(old(tmp_path, name) for name in REPORTED)
    bench, plan, *advice = report(ReportRequest(folders=folders, out=tmp_path)).sections
    assert bench.answer[0].startswith("Local, 64 per worker: 2 workers train ")
    assert [table.title for table in bench.tables] == ["Speeds", "Where the time goes", "Verdicts", "The network"]
    assert "torch 2" in bench.origin["versions"] and "2 cores" in bench.origin["hardware"]
    assert read_line(bench.commands[0]) == BenchRequest(workload="digits/fc_64", seconds=1.0, out=Path("NEW"))
    assert plan.answer[0].startswith("The fastest is c (2 nodes of 1 worker)")
    assert plan.asked["deadline"] == "1 h" and len(plan.commands) == 4
    assert [figure.name for figure in plan.figures] == ["frontier", "scaling"]
    assert [section.kind for section in advice] == ["Advice", "Plan", "Bench"]
    assert advice[0].answer[1].startswith("Use a batch of 512")


def test_version_0_1_0_is_planned_with() -> None:
    points, network = read_bench(OLD / "advise" / "bench")
    assert len(points) == 8 and network is not None and network.gradient_bytes > 1000
    assert "synchronisation-bound" in Speed.read(OLD / "advise" / "bench").where_time_goes(1024)


@pytest.mark.parametrize("name", FILES)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    found = FILES[name].read(OLD / name)
    found.write(tmp_path)
    assert FILES[name].read(tmp_path) == found
    written, before = (json.loads((folder / found.file_name).read_text()) for folder in (tmp_path, OLD / name))
    assert written.pop("format") == 2
    assert set(before) <= set(written), "no key of version 0.1.0 is lost"


def test_several_workloads_are_read_again(tmp_path: Path) -> None:
    found = AnalysisFile.read(OLD / "analysis")
    several = found.model_copy(update={"workloads": found.workloads * 2})
    several.write(tmp_path)
    assert AnalysisFile.read(tmp_path) == several


def test_names_that_are_no_text_are_read_again(tmp_path: Path) -> None:
    strange = Path("Größe 模型 \udcff.yaml")
    choice = Choice(cluster="x\udcff", workers=1, hours=1.0)
    found = PlanFile(asked=PlanAsked(clusters=strange), fastest=choice, candidates=(choice,))
    found.write(tmp_path)
    again = PlanFile.read(tmp_path)
    assert again.asked == found.asked and again.fastest == choice
    assert report(ReportRequest(folders=(tmp_path,))).sections[0].commands[0].startswith("scalewise plan --clusters")


def test_a_table_of_speeds_is_read_again(tmp_path: Path) -> None:
    points = throughput_in(OLD / "bench")
    write_throughput(tmp_path, points)
    assert throughput_in(tmp_path) == points


BAD = {
    "not JSON": (b"{", "cannot read"),
    "empty": (b"", "cannot read"),
    "no keys": (b"[]", "it holds no keys"),
    "deep": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "cannot read"),
    "not UTF-8": (b'{"says": "\xff"}', "cannot read"),
    "a later format": (b'{"format": 3}', "has the format 3: it was written by a later version of scalewise"),
    "a strange format": (b'{"format": "new"}', "has the format 'new'"),
}


@pytest.mark.parametrize("kind", [BenchFile, PlanFile, AdviseFile, AnalysisFile])
@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_one_sentence(name: str, kind: type[ResultFile], tmp_path: Path) -> None:
    content, says = BAD[name]
    (tmp_path / kind.file_name).write_bytes(content)
    with pytest.raises(FolderError) as refused:
        kind.read(tmp_path)
    assert says in str(refused.value) and "\n" not in str(refused.value)
    assert str(tmp_path / kind.file_name) in str(refused.value)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("bench", {"points": [{"workers": 1}]}, "it has no points.0.cluster"),
        ("bench", {"points": nested(900)}, "should be keys and values"),
        ("bench", {"asked": {"workload": "digits/fc_64"}}, "it has no asked.workers"),
        ("bench", {"network": [{"workers": 2, "messages": []}]}, "network.0.messages"),
        ("bench", {"versions": 3}, "versions=3 should be keys and values"),
        ("plan", {"fastest": 3}, "fastest=3 should be keys and values"),
        ("plan", {"frontier": {}}, "frontier={} should be a list"),
        ("plan", {"candidates": [{"cluster": "c", "workers": -2, "hours": 1}]}, "workers=-2 should be greater than 0"),
        ("plan", {"scaling": [{"points": [3]}]}, "scaling.0.points.0=3 should be keys and values"),
        ("plan", {"says": [3]}, "says.0=3 should be a text"),
        ("plan", {"asked": {"budget": "much"}}, "asked.budget='much' should be a number"),
        ("advise", {"workload": None}, "workload=None should be a text"),
        ("analysis", {"critical_batch": {}}, "critical_batch={} should have a value, which may be null"),
        ("analysis", {"critical_batch": {"value": 3.0}}, "it has no workloads.0.critical_batch.low"),
        (
            "analysis",
            {"critical_batch": {"value": None, "s_min": 3.0}},
            "workloads.0.critical_batch.s_min=3.0 should be",
        ),
        ("analysis", {"steps_to_target": [{"batch_size": "four"}]}, "batch_size='four' should be a number"),
    ],
)
def test_what_is_damaged_is_named(name: str, values: dict[str, object], says: str, tmp_path: Path) -> None:
    folder = old(tmp_path, name)
    change(folder, FILES[name], **values)
    with pytest.raises(FolderError) as refused:
        FILES[name].read(folder)
    assert "is damaged: " in str(refused.value) and says in str(refused.value)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < len(str(folder)) + 200


def test_a_new_plan_may_not_leave_out_what_an_old_one_could(tmp_path: Path) -> None:
    candidate = {"cluster": "here"}
    (tmp_path / "plan.json").write_text(json.dumps({"candidates": [candidate]}))
    assert PlanFile.read(tmp_path).candidates == ()
    (tmp_path / "plan.json").write_text(json.dumps({"format": 2, "candidates": [candidate]}))
    with pytest.raises(FolderError, match=r"it has no candidates\.0\.workers"):
        PlanFile.read(tmp_path)


@pytest.mark.parametrize("name", REPORTED)
@pytest.mark.parametrize(
    "content", [BAD["deep"][0], BAD["a later format"][0], b'{"format": 2, "says": 3, "points": 3}']
)
def test_the_command_line_says_one_sentence(content: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / REPORTED[name]).write_bytes(content)
    ended = group(1, "report", tmp_path)
    assert (ended.exit_code, ended.output.count("\n")) == (2, 1), ended.output
    assert ended.output.startswith("scalewise: ") and REPORTED[name] in ended.output


def test_a_damaged_bench_says_what_to_do(tmp_path: Path) -> None:
    folder = old(tmp_path, "bench")
    change(folder, BenchFile, network=[3])
    with pytest.raises(DataError, match=r"network\.0=3 should be keys and values; measure again, or plan with"):
        read_bench(folder)
    with pytest.raises(DataError, match="then run the same command again"):
        Speed.read(folder)
    (folder / "bench.json").unlink()
    assert read_bench(folder)[1] is None, "a table of speeds alone will do"


@pytest.mark.parametrize("name", ["bench.json", "plan.json", "advise.json", "analysis.json", "throughput.csv"])
def test_a_file_is_named_in_one_place(name: str) -> None:
    source = Path(scalewise.__file__).parent
    users = [file.relative_to(source).as_posix() for file in source.rglob("*.py") if f'"{name}"' in file.read_text()]
    assert len(users) == 1 and users[0].startswith("record/")
