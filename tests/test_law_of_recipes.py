"""Every piece of a recipe under the law, and resumed in the middle."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mischief import MISCHIEF, mischief
from processes import NETS, Run, group, train

PIECES = {
    "rmsprop": "Dropout recipe.optimizer=rmsprop recipe.learning_rate=0.001",
    "adamw, clipped": "Dropout recipe.optimizer=adamw recipe.learning_rate=0.01 recipe.clip_norm=0.5",
    "lars, polynomial": "BatchNorm recipe.optimizer=lars recipe.learning_rate=5 recipe.weight_decay=0.001 "
    "recipe.schedule=polynomial",
    "lamb, warmup": "Dropout recipe.optimizer=lamb recipe.learning_rate=0.02 recipe.weight_decay=0.01 "
    "recipe.warmup=stepping recipe.warmup_length='10 steps'",
    "scaled, gradual, cosine": "Dropout recipe.scaling=linear recipe.reference_batch=32 recipe.warmup=gradual "
    "recipe.warmup_length='800 examples' recipe.schedule=cosine",
    "one cycle": "Dropout recipe.schedule=one_cycle recipe.optimizer=momentum",
    "ghosts, averaged": "BatchNorm recipe.ghost_batch=6 recipe.average_half_life='400 examples'",
    "bf16": "BatchNorm recipe.precision=bf16",
    "fp16": "BatchNorm recipe.precision=fp16 recipe.clip_norm=1",
    "images": "Residual recipe.augmentation=flip_and_crop recipe.zero_init_residual=true "
    "recipe.image_sizes='[[0 steps, 6], [15 steps, 8]]' recipe.label_smoothing=0.1",
    "adasum": "BatchNorm recipe.combine=adasum",
}


def arguments(piece: str) -> tuple[str, list[str]]:
    """Return the workload of a piece, and its settings as arguments."""
    import shlex

    network, *settings = shlex.split(PIECES[piece])
    return f"{NETS}:{network}", [word for setting in settings for word in ("--set", setting)]


@pytest.mark.parametrize("piece", PIECES)
def test_every_piece_is_bit_identical_on_1_2_and_3_workers(piece: str, tmp_path: Path) -> None:
    workload, settings = arguments(piece)
    runs = [train(n, workload, tmp_path / str(n), "--exact", *settings) for n in (1, 2, 3)]
    for run in runs[1:]:
        assert run.bits == runs[0].bits
        assert run.rows == runs[0].rows
    plain = train(1, workload, tmp_path / "plain", "--exact")
    assert plain.bits != runs[0].bits, "the piece did nothing"


@pytest.mark.parametrize("piece", [name for name in PIECES if name not in ("bf16", "fp16")])
def test_fast_runs_of_every_piece_agree_to_rounding(piece: str, tmp_path: Path) -> None:
    """With two seeds of three: where rounding switches a unit on or off, another training begins."""
    distances: list[float] = []
    for seed in range(3):
        distances.append(distance(piece, seed, tmp_path))
        if sum(one < 1e-5 for one in distances) == 2:
            return
    pytest.fail(f"{distances}")


def distance(piece: str, seed: int, out: Path) -> float:
    """Return how far the models of 1 and 3 workers are apart, relative to their size."""
    workload, settings = arguments(piece)
    more = ("--set", f"recipe.seed={seed}")
    one, three = (train(n, workload, out / f"{seed} {n}", *settings, *more) for n in (1, 3))
    mine, theirs = (torch.cat([tensor.flatten() for tensor in run.weights.values()]) for run in (one, three))
    return float((mine - theirs).norm() / mine.norm())


@pytest.mark.parametrize(
    "settings",
    [
        "recipe.warmup=gradual recipe.warmup_length=1200,examples",
        "recipe.schedule=one_cycle recipe.optimizer=adamw recipe.learning_rate=0.01",
        "recipe.average_half_life=400,examples",
        "recipe.optimizer=lamb recipe.learning_rate=0.02",
        "recipe.precision=fp16",
    ],
)
def test_resumed_in_the_middle_it_is_the_same_model(settings: str, tmp_path: Path) -> None:
    words = [word for text in settings.split() for word in ("--set", text.replace(",", " "))]
    overflow = {"SCALEWISE_TEST_OVERFLOW": "3,6"}  # two skipped steps before the stop
    workload = f"{NETS}:Overflowing" if "fp16" in settings else MISCHIEF

    def run(name: str, workers: int, env: dict[str, str], expect: int) -> Run:
        out = tmp_path / name
        ended = group(workers, "train", workload, "--out", out, "--exact", *words, env={**overflow, **env})
        assert ended.exit_code == expect, ended.output
        return Run(out, ended.output)

    reference = run("reference", 1, {}, 0)
    stopped = run("run", 2, mischief("SIGTERM", tmp_path / "once", rank=1, count=20), 4)
    assert 5 < stopped.metadata["steps"] < 15
    resumed = run("run", 3, {}, 0)
    assert resumed.bits == reference.bits
    assert resumed.rows == reference.rows
    if "fp16" in settings:
        for finished in (resumed, reference):
            assert (finished.metadata["loss_scale"], finished.metadata["skipped_steps"]) == (16384.0, 2)


def test_averaged_weights_are_measured_and_saved_beside_the_plain_ones(tmp_path: Path) -> None:
    averaging = ("--set", "recipe.average_half_life=400 examples")
    averaged = train(2, f"{NETS}:BatchNorm", tmp_path / "averaged", "--exact", *averaging)
    plain = train(1, f"{NETS}:BatchNorm", tmp_path / "plain", "--exact")
    beside = load_file(averaged.path / "model_plain.safetensors")
    assert all(torch.equal(beside[name], tensor) for name, tensor in plain.weights.items())
    assert averaged.bits != plain.bits
    for row, plain_row in zip(averaged.rows, plain.rows, strict=True):
        assert {name: row[name] for name in plain_row} == plain_row
    assert averaged.rows[-1]["averaged_val/cross_entropy_error"] != averaged.rows[-1]["val/cross_entropy_error"]


@pytest.mark.parametrize("wire", ["bf16", "fp16"])
def test_a_narrow_wire_says_that_it_gives_up_equality(wire: str, tmp_path: Path) -> None:
    narrow = train(2, f"{NETS}:BatchNorm", tmp_path / "narrow", "--set", f"cluster.wire={wire}")
    wide = train(2, f"{NETS}:BatchNorm", tmp_path / "wide")
    assert f"gradients are sent as {wire}: models of different numbers of workers are no longer equal" in narrow.output
    assert narrow.bits != wide.bits
    name = "val/cross_entropy_error"
    assert float(narrow.rows[-1][name]) == pytest.approx(float(wide.rows[-1][name]), rel=0.05)


def test_the_run_says_and_records_what_it_derived(tmp_path: Path) -> None:
    settings = ("recipe.global_batch=320", "recipe.warmup_length=200 steps", "stop.steps=400")
    words = [word for setting in settings for word in ("--set", setting)]
    run = train(1, f"{NETS}:Digits", tmp_path / "run", "--recipe", "linear+warmup", *words)
    # the workload's own recipe has 0.05 at 80 examples
    said = "learning rate 0.2, scaled from 0.05 at batch 80 (linear); gradual warmup of 200 steps from 0.05"
    assert said in run.output
    assert run.metadata["derived"] == {
        "full_learning_rate": 0.2,
        "first_learning_rate": 0.05,
        "warmup_steps": 200,
        "decay_points": [],
    }
