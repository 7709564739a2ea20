"""The files of runs, comparisons and studies as values: read as they were written, and damage is one sentence."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from old_runs import INTERRUPTED, INTERRUPTED_SETTINGS, STUDY, STUDY_SETTINGS
from processes import Run, group, train
from recorded import run_metadata
from scalewise.analysis.analyze import analyze
from scalewise.errors import FolderError
from scalewise.record.measurements import MEASUREMENTS
from scalewise.record.results.checkpoint import CheckpointNumbers, Manifest, NoiseSamples
from scalewise.record.results.compare import CompareAsked, ComparedRecipe, CompareResult, Summary
from scalewise.record.results.file import ResultFile
from scalewise.record.results.noise import MeasuredNoise, is_noise
from scalewise.record.results.run import PerformanceChoice, Times
from scalewise.record.results.study import ParameterRange, StudyAsked, StudyDescription, StudySettings, StudyStage
from scalewise.record.results.trial import PublishedTrial
from scalewise.record.status import Status
from scalewise.requests import AnalyzeRequest

LEARNING_RATE = ParameterRange(type="DOUBLE", min_value=0.01, max_value=1.0, scale="LOG_SCALE")
STAGE = StudyStage(first_trial=0, parameter_configs={"learning_rate": LEARNING_RATE})
FILES: list[ResultFile] = [
    run_metadata(
        stopped_by="target",
        target="val/classification_error<0.1",
        parameters={"learning_rate": 0.1, "clip_norm": None},
        derived={"full_learning_rate": 0.1, "first_learning_rate": 0.1, "warmup_steps": 0, "decay_points": [3]},
        performance=PerformanceChoice(memory_format="contiguous", compiled=False, threads_per_worker=2, workers=1),
        versions={"torch": "2.9.0"},
        hardware={"cores": 2, "processor": "some"},
        loss_scale=1024.0,
        skipped_steps=2,
    ),
    PublishedTrial(trial_id=3, status=Status.INFEASIBLE, steps=9, parameters={"momentum": 0.9}, stopped_by="diverged"),
    CompareResult(
        workload="digits/fc_16",
        epochs=2.0,
        metric="val/classification_error",
        rows=(
            ComparedRecipe(name="baseline", global_batch=32, final=Summary(mean=90.0, lowest=89.0, highest=91.0)),
            ComparedRecipe(name="lamb", global_batch=512, trials=1, diverged=1),
        ),
        asked=CompareAsked(recipes=("lamb",), overrides=("recipe.momentum=0.5",)),
    ),
    StudyDescription(
        batch_size=32,
        dataset="digits",
        model="fc_16",
        optimizer="sgd",
        early_stopping=True,
        train_steps=0,
        parameter_configs={**STAGE.parameter_configs, "ghost": ParameterRange(type="DISCRETE", feasible_points=[1])},
        stages=(STAGE,),
        target="val/classification_error<0.1",
        settings=StudySettings(workload="digits/fc_16", recipe={"clip_norm": None}),
        asked=StudyAsked(trials=4),
    ),
    CheckpointNumbers(
        workload="digits/fc_16", clock=Times(training_seconds=1.5), noise=NoiseSamples(steps=1, sums=(2,))
    ),
    Manifest(step=4, recipe="2-abc", files={"numbers.json": "ef"}),
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: type(file).__name__)
def test_a_file_is_read_as_it_was_written(file: ResultFile, tmp_path: Path) -> None:
    file.write(tmp_path)
    assert type(file).read(tmp_path) == file
    assert json.loads((tmp_path / file.file_name).read_text())["format"] == file.present_format


@pytest.mark.parametrize("file", FILES, ids=lambda file: type(file).__name__)
def test_what_is_wrong_with_a_file_is_one_sentence(file: ResultFile, tmp_path: Path) -> None:
    plain = file.plain()
    key = next(name for name, field in type(file).model_fields.items() if field.is_required() or name == "rows")
    damages: list[tuple[Any, str]] = [
        ({**plain, "format": 99}, "has the format 99: it was written by a later version of scalewise"),
        ({**plain, "format": "new"}, "has the format 'new'"),
        ({**plain, key: {"x": [1]}}, f"is damaged: {key}"),
        ([], "it holds no keys"),
        (3, "it holds no keys"),
    ]
    if key != "rows":
        damages.append(({name: value for name, value in plain.items() if name != key}, f"it has no {key}"))
    for content, message in damages:
        (tmp_path / file.file_name).write_text(json.dumps(content))
        with pytest.raises(FolderError) as refused:
            type(file).read(tmp_path)
        assert message in str(refused.value) and str(tmp_path) in str(refused.value)
        assert len(str(refused.value)) < len(str(tmp_path)) + 250


def test_the_keys_of_the_public_layout_stay_as_they_are() -> None:
    study = next(file for file in FILES if isinstance(file, StudyDescription)).plain()
    assert {name: study[name] for name in ("batch_size", "dataset", "model", "optimizer", "early_stopping")} == {
        "batch_size": 32,
        "dataset": "digits",
        "model": "fc_16",
        "optimizer": "sgd",
        "early_stopping": True,
    }
    assert study["train_steps"] == 0
    assert study["parameter_configs"] == {
        "learning_rate": {"type": "DOUBLE", "min_value": 0.01, "max_value": 1.0, "scale": "LOG_SCALE"},
        "ghost": {"type": "DISCRETE", "feasible_points": [1]},
    }
    trial = next(file for file in FILES if isinstance(file, PublishedTrial)).plain()
    assert (trial["trial_id"], trial["status"], trial["steps"]) == (3, "INFEASIBLE", 9)
    assert trial["parameters"] == {"momentum": 0.9}


def test_others_files_may_have_odd_values_where_nothing_depends_on_them(tmp_path: Path) -> None:
    described = {"batch_size": "64", "dataset": 7, "model": "fc_64", "optimizer": "sgd", "early_stopping": "perhaps"}
    odd = {"train_steps": "many", "train_examples": "some", "_internal": [1]}
    ranges = {"learning_rate": {"type": "DOUBLE", "min_value": "low", "max_value": [1], "scale": 3}}
    content = json.dumps({**described, **odd, "parameter_configs": ranges}).encode()
    study = StudyDescription.parse(content, "study.json")
    assert (study.batch_size, study.workload) == (64, ("7", "fc_64", "sgd"))
    assert (study.early_stopping, study.train_steps, study.train_examples) == (None, None, None)
    folder = tmp_path / "64"
    (folder / "0").mkdir(parents=True)
    (folder / "study.json").write_bytes(content)
    trial = {"status": "COMPLETE", "steps": 9, "parameters": {"learning_rate": 0.1}}
    (folder / "0" / "metadata.json").write_text(json.dumps(trial))
    (folder / "0" / "measurements.csv").write_text("step,val/x\n9,0.5\n")
    found = analyze(AnalyzeRequest(folder=tmp_path, targets=("val/x<0.6",)))
    assert [row.steps for row in found.workloads[0].curve.rows] == [9]


def test_metadata_says_nothing_of_a_loss_scale_that_is_not_there() -> None:
    plain = run_metadata().plain()
    assert "loss_scale" not in plain and "skipped_steps" not in plain
    assert plain["target"] is None and plain["stopped_by"] is None


@pytest.mark.parametrize("noise", [MeasuredNoise(), MeasuredNoise(value=3.5, low=2.0, steps=7)])
def test_a_noise_scale_is_four_columns(noise: MeasuredNoise) -> None:
    columns = noise.columns()
    assert list(columns) == ["noise_scale", "noise_scale_low", "noise_scale_high", "noise_scale_steps"]
    assert MeasuredNoise.of({"val/x": 1.0, **columns}) == noise
    assert all(map(is_noise, columns)) and not is_noise("val/x")
    assert MeasuredNoise.of({"val/x": 1.0}) is None
    assert MeasuredNoise.of({"noise_scale": math.inf, "noise_scale_steps": 0.5}) == MeasuredNoise()


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    """A run that can go on."""
    return Path(shutil.copytree(INTERRUPTED, tmp_path / "run"))


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metadata.json", b"[]"),
        ("metadata.json", b'{"performance": 3}'),
        ("metadata.json", b'{"status": '),
        ("metadata.json", b"\xff\x00"),
        ("metadata.json", DEEP.encode()),
        ("metadata.json", b""),
        (MEASUREMENTS, b"\xff\xfe\x00garbage\n\x01\n"),
        (MEASUREMENTS, b"step,val/x\nfour,1\n"),
        (MEASUREMENTS, b"step,val/x\n" + b"1" * 5000 + b",1\n"),
        (MEASUREMENTS, b"step,val/x\n4," + b"1" * 200_000 + b"\n"),
        (MEASUREMENTS, b"\n\n"),
    ],
)
def test_a_damaged_run_is_one_sentence(name: str, content: bytes, interrupted: Path) -> None:
    (interrupted / name).write_bytes(content)
    for command in (("train", "digits/fc_16", *INTERRUPTED_SETTINGS, "--out", interrupted), ("report", interrupted)):
        ended = group(1, *command)
        assert ended.exit_code == 2, ended.output
        assert len(ended.output.splitlines()) == 1 and str(interrupted / name) in ended.output


def test_a_performance_of_another_type_is_one_sentence(interrupted: Path) -> None:
    known = json.loads((interrupted / "metadata.json").read_text())
    (interrupted / "metadata.json").write_text(json.dumps({**known, "performance": 3}))
    ended = group(2, "train", "digits/fc_16", *INTERRUPTED_SETTINGS, "--out", interrupted)
    assert ended.exit_code == 2 and "metadata.json is damaged: performance=3" in ended.output, ended.output


def test_a_damaged_trial_is_one_sentence(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(STUDY, tmp_path / "study"))
    trial = folder / "_scalewise" / "runs" / "digits" / "fc_16" / "nesterov_momentum" / "32" / "4"
    trial.mkdir(parents=True)
    (trial / "metadata.json").write_text("[]")
    ended = group(1, "study", "digits/fc_16", *STUDY_SETTINGS, "--trials", 5, "--out", folder)
    assert ended.exit_code == 2, ended.output
    assert ended.output == f"scalewise: cannot read {trial / 'metadata.json'}: it holds no keys\n"


def replaced(file: str, content: str) -> Callable[[Path], None]:
    def replace(folder: Path) -> None:
        (folder / "checkpoints" / "21" / file).write_text(content)

    return replace


def a_file_in_place_of_all(folder: Path) -> None:
    shutil.rmtree(folder / "checkpoints")
    (folder / "checkpoints").write_text("")


@pytest.mark.parametrize(
    "damage",
    [
        replaced("manifest.json", DEEP),
        replaced("manifest.json", ""),
        replaced("manifest.json", "[]"),
        replaced("manifest.json", '{"files": 3}'),
        replaced("manifest.json", '{"format": 99}'),
        replaced("numbers.json", "{}"),
        a_file_in_place_of_all,
    ],
)
def test_a_run_without_a_whole_checkpoint_starts_again(
    damage: Callable[[Path], None], interrupted: Path, whole: Run
) -> None:
    damage(interrupted)
    run = train(1, "digits/fc_16", interrupted, *INTERRUPTED_SETTINGS)
    assert "continues" not in run.output
    assert (run.bits, run.rows) == (whole.bits, whole.rows)


def test_odd_names_among_checkpoints_are_left_alone(interrupted: Path, whole: Run) -> None:
    for name in ("notes", "-5", "99.damaged", "²", "x" * 200):
        (interrupted / "checkpoints" / name).mkdir()
        (interrupted / "checkpoints" / name / "manifest.json").write_text("{}")
    (interrupted / "checkpoints" / "50").write_text("a file")
    run = train(1, "digits/fc_16", interrupted, *INTERRUPTED_SETTINGS)
    assert "continues from the checkpoint at step 21" in run.output
    assert run.bits == whole.bits


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run without an interruption."""
    return train(1, "digits/fc_16", tmp_path_factory.mktemp("whole"), *INTERRUPTED_SETTINGS)


def test_json_of_train_has_the_keys_that_it_always_had(whole: Run) -> None:
    printed = json.loads(group(1, "train", "digits/fc_16", *INTERRUPTED_SETTINGS, "--out", whole.path, "--json").output)
    earlier = json.loads((INTERRUPTED / "metadata.json").read_text())
    assert printed == whole.metadata
    assert printed.keys() - earlier.keys() == {"format", "metrics"}
    assert earlier.keys() <= printed.keys()
    for part in ("derived", "performance", "versions", "hardware"):
        assert printed[part].keys() == earlier[part].keys()
