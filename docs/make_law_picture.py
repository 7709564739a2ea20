"""Draws the law: one recipe with --exact on 1, 2 and 4 workers gives one model in different times."""

import csv
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

WORKLOAD = "fashion_mnist/simple_cnn_narrow"
SETTINGS = (
    "recipe.global_batch=256",
    "recipe.microbatch=64",
    "stop.target=null",
    "stop.epochs=1.5",
    "evaluate.every_examples=5500",
    "evaluate.train_examples=1",
)
# Wide and pale below, narrow and dark above, so that equal curves can all be seen.
LOOKS = {1: ("#9ecae1", 9.0), 2: ("#3182bd", 4.5), 4: ("#08306b", 1.4)}


@dataclass(frozen=True)
class Curve:
    """How one run went."""

    workers: int
    steps: list[int]
    error_percent: list[float]
    training_seconds: float
    model: bytes

    @property
    def seconds(self) -> list[float]:
        """When each evaluation came, counting training only."""
        return [self.training_seconds * step / self.steps[-1] for step in self.steps]


def train(workers: int) -> Curve:
    """Train on some workers, exactly."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "scalewise", "train", WORKLOAD, "--exact", "--json", "--out", str(out)]
        settings = [word for setting in SETTINGS for word in ("--set", setting)]
        ended = subprocess.run([*command, "--workers", str(workers), *settings], stdout=subprocess.PIPE, check=True)
        with (out / "measurements.csv").open() as stream:
            rows = list(csv.DictReader(stream))
        return Curve(
            workers,
            [int(row["step"]) for row in rows],
            [100 * float(row["val/classification_error"]) for row in rows],
            json.loads(ended.stdout)["training_seconds"],
            (out / "model.safetensors").read_bytes(),
        )


def draw(axes: Axes, curves: list[Curve], over: str, title: str) -> None:
    """Draw the validation error of all runs over steps or seconds."""
    for curve in curves:
        colour, width = LOOKS[curve.workers]
        label = f"{curve.workers} worker{'s' * (curve.workers > 1)}"
        axes.plot(getattr(curve, over), curve.error_percent, color=colour, linewidth=width, label=label)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel({"steps": "steps", "seconds": "seconds of training"}[over])
    axes.set_ylabel("validation error, %")
    axes.set_yscale("log")
    axes.set_yticks([10, 20, 40, 80], ["10", "20", "40", "80"])
    axes.minorticks_off()
    axes.set_xlim(left=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def main() -> None:
    """Train, check and draw."""
    curves = [train(workers) for workers in LOOKS]
    assert len({curve.model for curve in curves}) == 1, "the models differ"
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    draw(left, curves, "steps", "The model: the same bits on 1, 2 and 4 workers")
    draw(right, curves, "seconds", "The time: less with more workers (2 cores)")
    target = Path(__file__).parent / "pictures" / "law.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=160)
    print(f"{WORKLOAD}: models of {len(curves)} runs are bit-identical; drawn in {target}")


if __name__ == "__main__":
    main()
