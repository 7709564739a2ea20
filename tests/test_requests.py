"""A request written as words is read back by the real command line as the same request."""

import dataclasses
from pathlib import Path

import pytest

from reading import read, read_line
from scalewise.requests import (
    KINDS,
    AdviseRequest,
    AnalyzeRequest,
    BenchFileRequest,
    BenchRequest,
    CompareRequest,
    DataRequest,
    NoiseRequest,
    PlanRequest,
    PredictRequest,
    ReportRequest,
    Request,
    StudyRequest,
    TrainRequest,
    WorkloadsRequest,
    arguments,
    command_line,
)

HOSTILE = ["-w.py:Net", "--out", "--", "a b", "it's", 'say "hi"', "; rm -rf *", "#no comment", "$(x)", "ü\n", "\udcff"]

LEAST: list[Request] = [
    TrainRequest(workload="digits/fc_64_64"),
    CompareRequest(
        workload="w", recipes=("naive",), global_batch=64, baseline_batch=8, epochs=2.0, out=Path("runs/compare")
    ),
    BenchRequest(workload="w"),
    BenchFileRequest(file=Path("throughput.csv")),
    StudyRequest(workload="w", batch_sizes=(16, 64), out=Path("runs/study")),
    AnalyzeRequest(folder=Path("runs/study")),
    PredictRequest(throughput=Path("throughput.csv")),
    PlanRequest(clusters=Path("clusters.yaml")),
    AdviseRequest(workload="w", out=Path("runs/advise")),
    NoiseRequest(workload="w"),
    ReportRequest(folders=(Path("runs/study"),)),
    WorkloadsRequest(),
    DataRequest(),
]

EVERYTHING: list[Request] = [
    TrainRequest(
        workload="w",
        recipe="linear+warmup",
        overrides=("recipe.seed=1", "recipe.warmup_length=5 epochs"),
        workers=2,
        out=Path("runs/a b"),
        exact=True,
        fresh=True,
        as_json=True,
        quiet=True,
    ),
    CompareRequest(
        workload="w",
        recipes=("naive", "linear+warmup@digits/fc_16", "file.yaml"),
        global_batch=4096,
        baseline_batch=512,
        epochs=0.1 + 0.2,
        out=Path("runs/compare"),
        learning_rate=1e-7 / 3,
        seeds=3,
        overrides=("recipe.microbatch=8",),
        workers=2,
        as_json=True,
    ),
    BenchRequest(
        workload="w",
        workers=(4, 1, 2),
        microbatches="auto",
        scaling="strong",
        seconds=1.5,
        synthetic=True,
        trace=True,
        cluster="this machine",
        overrides=("recipe.global_batch=96",),
        out=Path("runs/b"),
        as_json=True,
        group_result=Path("result.json"),
    ),
    BenchFileRequest(file=Path("t.csv"), scaling="strong", out=Path("runs/b"), as_json=True),
    StudyRequest(
        workload="w",
        batch_sizes=(8, 1024),
        out=Path("runs/s"),
        trials=5,
        optimizer="sgd",
        space=Path("space.yaml"),
        target="val/classification_error<0.12",
        max_steps=1000,
        max_epochs=2.5,
        racing=False,
        widen=True,
        seed=7,
        jobs=2,
        overrides=("evaluate.every_examples=10",),
        as_json=True,
    ),
    AnalyzeRequest(
        folder=Path("studies"),
        steps_file=Path("steps.csv"),
        targets=("val/error<0.1", "test/accuracy>0.9"),
        step_budget=100,
        epoch_budget=2.5,
        out=Path("runs/a"),
        as_json=True,
    ),
    PredictRequest(throughput=Path("t.csv"), workers=(16, 32), up_to=8, as_json=True),
    PlanRequest(
        clusters=Path("c.yaml"),
        study=Path("s"),
        steps=Path("steps.csv"),
        bench=Path("b"),
        throughput=Path("t.csv"),
        target="val/error<0.1",
        deadline_hours=12.0,
        budget=99.99,
        reliability=0.9,
        only=("T4 1x1", "T4 1x2"),
        out=Path("runs/p"),
        as_json=True,
    ),
    AdviseRequest(
        workload="w", out=Path("runs/a"), target="val/error<1", clusters=Path("c.yaml"), minutes=0.5, as_json=True
    ),
    NoiseRequest(workload="w", steps=8, workers=2, overrides=("recipe.seed=1",), out=Path("runs/n"), as_json=True),
    ReportRequest(folders=(Path("runs/a"), Path("runs/b")), out=Path("runs/r"), as_json=True),
    WorkloadsRequest(),
    DataRequest(name="mnist"),
]


def kind(request: Request) -> str:
    return type(request).__name__


@pytest.mark.parametrize("request_", LEAST, ids=kind)
def test_defaults_are_left_out(request_: Request) -> None:
    words = arguments(request_)
    assert read(words) == request_
    needed = [field for field in dataclasses.fields(request_) if field.default is dataclasses.MISSING]
    assert len(words) <= 2 + 2 * len(needed)


@pytest.mark.parametrize("request_", EVERYTHING, ids=kind)
def test_everything_is_said(request_: Request) -> None:
    assert all(getattr(request_, field.name) != field.default for field in dataclasses.fields(request_))
    assert read(arguments(request_)) == request_


@pytest.mark.parametrize("request_", EVERYTHING, ids=kind)
def test_each_option_is_said_alone(request_: Request) -> None:
    least = next(one for one in LEAST if type(one) is type(request_))
    for field in dataclasses.fields(request_):
        changed = dataclasses.replace(least, **{field.name: getattr(request_, field.name)})
        assert read(arguments(changed)) == changed


@pytest.mark.parametrize("word", HOSTILE)
def test_names_that_look_like_something_else(word: str) -> None:
    path = Path(word)
    cases: list[Request] = [
        TrainRequest(workload=word, recipe=word, overrides=(word, word), out=path, workers=2),
        CompareRequest(
            workload=word, recipes=(word,), global_batch=2, baseline_batch=1, epochs=1.0, out=path, overrides=(word,)
        ),
        BenchRequest(workload=word, cluster=word, overrides=(word,), out=path, group_result=path),
        BenchFileRequest(file=path, out=path),
        StudyRequest(
            workload=word, batch_sizes=(1,), out=path, optimizer=word, space=path, target=word, overrides=(word,)
        ),
        AnalyzeRequest(folder=path, targets=(word, word), out=path),
        AnalyzeRequest(steps_file=path),
        PredictRequest(throughput=path, up_to=2),
        PlanRequest(clusters=path, study=path, throughput=path, target=word, only=(word.strip(), "x"), out=path),
        AdviseRequest(workload=word, out=path, target=word, clusters=path),
        NoiseRequest(workload=word, overrides=(word,), out=path),
        ReportRequest(folders=(path, Path("plain"), path), out=path),
        DataRequest(name=word),
    ]
    if word == "ü\n":  # a list is read without the spaces around its items
        cases = [case for case in cases if not isinstance(case, CompareRequest)]
    for case in cases:
        assert read(arguments(case)) == case
        assert read_line(command_line(case)) == case


def test_every_command_has_its_cases() -> None:
    kinds = set(Request.__subclasses__())
    assert {type(one) for one in LEAST} == {type(one) for one in EVERYTHING} == kinds == set(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_examples_in_the_help_can_be_typed(kind: type[Request]) -> None:
    for example in kind.examples:
        assert read_line(example).command == kind.command


def test_requests_are_made_by_name() -> None:
    with pytest.raises(TypeError, match="positional"):
        TrainRequest("digits/fc_64_64")  # type: ignore[call-arg]


def test_a_line_can_be_copied() -> None:
    request = TrainRequest(workload="my nets.py:Net", recipe="a;b.yaml", workers=2, out=Path("NEW"))
    assert command_line(request) == "scalewise train 'my nets.py:Net' --recipe 'a;b.yaml' --workers 2 --out NEW"
