"""Folders of runs and studies that version 0.1.0 left, and the commands that left them."""

from pathlib import Path

_FOLDERS = Path(__file__).parent / "version_0_1_0" / "runs_and_studies"

RUN = _FOLDERS / "run"
"""`train digits/fc_16 --set stop.epochs=4 --set recipe.global_batch=128 ...`, which took all its epochs."""
INTERRUPTED = _FOLDERS / "interrupted"
"""A run that was stopped after 21 of its 40 steps."""
COMPARE = _FOLDERS / "compare"
"""`compare digits/fc_16 --recipes naive,linear+warmup --baseline-batch 32 --global-batch 256 --epochs 6 --seeds 1`."""
STUDY = _FOLDERS / "study"
"""A raced study of two batch sizes with four trials each."""

_INTERRUPTED = {
    "recipe.exact": "true",
    "recipe.optimizer": "adamw",
    "recipe.learning_rate": "0.01",
    "stop.target": "null",
    "stop.epochs": "null",
    "stop.steps": "40",
    "evaluate.every_steps": "10",
    "noise_scale.every_steps": "1",
}
INTERRUPTED_SETTINGS = tuple(word for name, value in _INTERRUPTED.items() for word in ("--set", f"{name}={value}"))
STUDY_SETTINGS = ("--batch-sizes", "32,128", "--max-epochs", 6, "--target", "val/classification_error<0.2")
