"""No `auto` is left where it decides the model, and what was resolved once stays what it is."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from processes import train
from scalewise.config import Config, load_config, model_decisions, read_config
from scalewise.recipe.resolve import SCHEMA, fingerprint, resolve

SETTINGS = [
    {},
    {"optimizer": "adamw"},
    {"optimizer": "lamb", "scaling": "linear", "warmup": "gradual", "global_batch": 1024},
    {"schedule": "cosine", "warmup": "gradual"},
    {"learning_rate_decay_steps": 1_234_567},
    {"schedule": "one_cycle", "precision": "fp16"},
    {"ghost_batch": 16, "global_batch": 96, "drop_at": ["1.5 epochs"], "schedule": "steps"},
]


def config(**recipe: Any) -> Config:
    return Config.model_validate({"workload": "digits/fc_64", "recipe": recipe})


@pytest.mark.parametrize("recipe", SETTINGS, ids=str)
def test_nothing_that_decides_the_model_is_auto(recipe: dict[str, Any], tmp_path: Path) -> None:
    resolved = resolve(config(**recipe))
    assert "auto" not in model_decisions(resolved).values()
    assert resolve(resolved) == resolved
    again = Config.model_validate(json.loads(resolved.model_dump_json()))
    assert resolve(again) == resolved, "a file keeps every digit"
    assert fingerprint(resolve(again)) == fingerprint(resolved)


def test_a_run_folder_holds_no_auto_and_repeats_the_run(tmp_path: Path) -> None:
    settings = ("--exact", "--set", "recipe.optimizer=adamw", "--set", "stop.steps=5")
    run = train(1, "digits/fc_64", tmp_path / "run", *settings)
    content = (run.path / "run.yaml").read_text()
    assert "auto" not in content
    assert yaml.safe_load(content)["recipe"]["epsilon"] == 1e-8
    again = train(2, "digits/fc_64", tmp_path / "again", "--recipe", run.path / "run.yaml")
    assert again.bits == run.bits
    assert read_config(again.path / "run.yaml").recipe == read_config(run.path / "run.yaml").recipe


def test_a_run_of_version_0_1_0_goes_on(tmp_path: Path) -> None:
    """Its configuration still holds `auto`."""
    settings = ("--exact", "--set", "recipe.optimizer=adamw")
    run = train(1, "digits/fc_64", tmp_path / "run", *settings, "--set", "stop.steps=5")
    content = yaml.safe_load((run.path / "run.yaml").read_text())
    content["recipe"] |= dict.fromkeys(
        ("second_moment", "epsilon", "schedule", "schedule_length", "loss_scale"), "auto"
    )
    content["evaluate"] |= {"every_examples": "auto", "train_examples": "auto"}
    del content["checkpoint"]["share_of_time"]
    (run.path / "run.yaml").write_text(yaml.safe_dump(content))
    assert train(1, "digits/fc_64", run.path, *settings, "--set", "stop.steps=5").metadata["status"] == "COMPLETE"


def test_a_fingerprint_leaves_out_what_is_usual_and_knows_the_rest() -> None:
    plain = fingerprint(resolve(config()))
    assert fingerprint(resolve(config(momentum=0.9))) == plain
    assert fingerprint(resolve(config(microbatch=32))) == plain, "what auto stands for"
    assert fingerprint(resolve(config(seed=1))) != plain
    assert fingerprint(resolve(load_config("digits/fc_32", {}, None, []))) != plain
    assert fingerprint(resolve(config().model_copy(update={"cluster": config().cluster}))) == plain


def test_defaults_change_only_together_with_the_schema() -> None:
    """A run folder is named by what differs from the defaults: other defaults need another number."""
    assert SCHEMA == 2
    assert fingerprint(resolve(config(seed=1, optimizer="lamb"))) == _PINNED
    decisions = model_decisions(resolve(config()))
    assert {name: decisions[name] for name in _DEFAULTS} == _DEFAULTS


_PINNED = "2-9a6698b2c088a0d7fa5034e75b03ddb373add72b4befa126c2de2c107090b131"
_DEFAULTS: dict[str, Any] = {
    "recipe.global_batch": 64,
    "recipe.microbatch": 32,
    "recipe.seed": 0,
    "recipe.exact": False,
    "recipe.optimizer": "nesterov_momentum",
    "recipe.learning_rate": 0.1,
    "recipe.momentum": 0.9,
    "recipe.second_moment": None,
    "recipe.epsilon": None,
    "recipe.lars_coefficient": 0.001,
    "recipe.weight_decay": 0.0,
    "recipe.clip_norm": None,
    "recipe.combine": "mean",
    "recipe.scaling": "none",
    "recipe.reference_batch": 256,
    "recipe.warmup": "none",
    "recipe.warmup_length": "5 epochs",
    "recipe.warmup_start_factor": None,
    "recipe.schedule": "constant",
    "recipe.schedule_length": None,
    "recipe.learning_rate_decay_steps": None,
    "recipe.end_learning_rate_factor": None,
    "recipe.polynomial_power": 2.0,
    "recipe.drop_at": ["30 epochs", "60 epochs", "80 epochs"],
    "recipe.drop_factor": 0.1,
    "recipe.cycle_start_factor": 0.04,
    "recipe.cycle_peak": 0.3,
    "recipe.cycle_momentum": 0.85,
    "recipe.ghost_batch": None,
    "recipe.average_half_life": None,
    "recipe.precision": "fp32",
    "recipe.loss_scale": None,
    "recipe.label_smoothing": 0.0,
    "recipe.zero_init_residual": False,
    "recipe.augmentation": "none",
    "recipe.image_sizes": [],
    "stop.target": None,
    "stop.steps": None,
    "stop.epochs": None,
    "stop.seconds": None,
    "evaluate.every_steps": None,
    "evaluate.every_examples": "epoch",
    "evaluate.train_examples": "as_val",
    "evaluate.batch": 256,
}
