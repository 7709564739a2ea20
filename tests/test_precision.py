"""Loss scaling: what overflows is skipped, and the scale follows."""

import math
from pathlib import Path

import pytest
import torch

from processes import NETS, Run, group, train
from scalewise.config import Recipe
from scalewise.errors import ConfigError
from scalewise.optim.gradients import Gradients
from scalewise.optim.precision import LossScale, make_loss_scale
from scalewise.recipe.resolve import resolve_recipe

OVERFLOWING = f"{NETS}:Overflowing"
FP16 = ("--set", "recipe.precision=fp16")


def test_a_dynamic_scale_halves_and_doubles() -> None:
    scale = LossScale(8.0, dynamic=True, growth_steps=3)
    scale.skipped_step()
    assert (scale.value, scale.skipped_steps) == (4.0, 1)
    for _ in range(3):
        scale.took_step()
    assert scale.value == 8.0
    for _ in range(5):
        scale.skipped_step()
    assert (scale.value, scale.skipped_steps, scale.at_floor) == (1.0, 6, True)  # not below its minimum


def test_good_steps_must_come_in_a_row() -> None:
    scale = LossScale(8.0, dynamic=True, growth_steps=3)
    for step in (scale.took_step, scale.took_step, scale.skipped_step, scale.took_step, scale.took_step):
        step()
    assert scale.value == 4.0


def test_a_static_scale_stays() -> None:
    scale = make_loss_scale(resolve_recipe(Recipe(precision="fp16", loss_scale=1024)))
    assert scale is not None
    scale.skipped_step()
    assert (scale.value, scale.skipped_steps) == (1024.0, 1)


def test_only_fp16_has_a_scale() -> None:
    assert make_loss_scale(resolve_recipe(Recipe(precision="bf16"))) is None
    for precision in ("fp32", "bf16"):
        with pytest.raises(ConfigError, match=r"needs recipe\.precision=fp16"):
            make_loss_scale(resolve_recipe(Recipe.model_validate({"precision": precision, "loss_scale": 1024})))


def test_gradients_are_unscaled_before_they_are_clipped() -> None:
    scale = LossScale(64.0, dynamic=True)
    summed = torch.tensor([3.0, 4.0]) * 64
    gradients = Gradients(summed, scale, clip_norm=2.5)
    assert gradients.make_ready()
    assert gradients.vector.tolist() == pytest.approx([1.5, 2.0])
    for bad in (math.inf, math.nan):
        summed[0] = bad
        assert not gradients.make_ready()


def overflowing(tmp_path: Path, workers: int, steps: str, *arguments: str, expect: int = 0) -> Run:
    """Train with gradients that overflow in the given steps."""
    out = tmp_path / f"{workers}-{steps}"
    env = {"SCALEWISE_TEST_OVERFLOW": steps}
    ended = group(workers, "train", OVERFLOWING, "--out", out, *FP16, *arguments, env=env)
    assert ended.exit_code == expect, ended.output
    return Run(out, ended.output)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_overflow_skips_the_step_and_halves_the_scale(workers: int, tmp_path: Path) -> None:
    run = overflowing(tmp_path, workers, "3,5")
    assert run.metadata["skipped_steps"] == 2
    assert run.metadata["loss_scale"] == 65536 / 4
    assert run.metadata["steps"] == 30
    assert "step 4 overflowed and was skipped (1 so far); the loss scale is 32768" in run.output
    assert all(tensor.isfinite().all() for tensor in run.weights.values())


def test_the_floor_is_kept_and_said(tmp_path: Path) -> None:
    run = overflowing(tmp_path, 1, ",".join(map(str, range(20))))
    assert run.metadata["loss_scale"] == 1.0
    assert run.metadata["skipped_steps"] == 20
    assert "the loss scale is 1, its minimum" in run.output


def test_a_static_scale_skips_too(tmp_path: Path) -> None:
    run = overflowing(tmp_path, 1, "3", "--set", "recipe.loss_scale=1024")
    assert (run.metadata["loss_scale"], run.metadata["skipped_steps"]) == (1024.0, 1)


def test_a_loss_that_no_scale_mends_is_a_diverged_run(tmp_path: Path) -> None:
    run = train(
        1, f"{NETS}:Dropout", tmp_path / "run", *FP16, "--set", "recipe.learning_rate=1e30", "--set", "stop.steps=100",
        expect=3,
    )  # fmt: skip
    assert run.metadata["status"] == "INFEASIBLE"


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_narrow_numbers_train_nearly_the_same_model(precision: str, tmp_path: Path) -> None:
    wide = train(1, f"{NETS}:BatchNorm", tmp_path / "wide")
    narrow = train(1, f"{NETS}:BatchNorm", tmp_path / "narrow", "--set", f"recipe.precision={precision}")
    assert all(tensor.dtype == torch.float32 for name, tensor in narrow.weights.items() if "tracked" not in name)
    name = "val/cross_entropy_error"
    assert float(narrow.rows[-1][name]) == pytest.approx(float(wide.rows[-1][name]), rel=0.1)
    assert narrow.bits != wide.bits
