"""Draws every schedule and warmup: pictures/schedules.png."""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalewise.config import Recipe
from scalewise.figures.looks import COLOURS
from scalewise.recipe.resolve import resolve_recipe
from scalewise.recipe.schedules import Schedule, make_schedule

EPOCHS = 90
STEPS_PER_EPOCH = 100
REFERENCE = {"learning_rate": 0.1, "reference_batch": 256, "global_batch": 4096, "scaling": "linear"}

DECAYS: dict[str, dict[str, Any]] = {
    "constant": {"schedule": "constant"},
    "steps": {"schedule": "steps"},
    "exponential": {"schedule": "exponential"},
    "polynomial": {"schedule": "polynomial"},
    "linear": {"schedule": "linear"},
    "cosine": {"schedule": "cosine"},
}
WARMUPS: dict[str, dict[str, Any]] = {
    "none": {"warmup": "none"},
    "stepping": {"warmup": "stepping"},
    "gradual": {"warmup": "gradual"},
}


def schedule(keys: dict[str, Any]) -> Schedule:
    """Make the schedule of a run of 90 epochs at batch 4,096, scaled from 0.1 at 256."""
    recipe = Recipe.model_validate({**REFERENCE, **keys})
    return make_schedule(resolve_recipe(recipe), STEPS_PER_EPOCH * recipe.global_batch, EPOCHS * STEPS_PER_EPOCH)


def draw(axes: Axes, title: str, curves: dict[str, dict[str, Any]], epochs: float) -> None:
    """Draw the rate of some schedules over the first epochs."""
    steps = range(round(epochs * STEPS_PER_EPOCH) + 1)
    for (name, keys), colour in zip(curves.items(), COLOURS, strict=False):
        plan = schedule(keys)
        values = [plan.learning_rate(step) for step in steps]
        axes.plot([step / STEPS_PER_EPOCH for step in steps], values, color=colour, linewidth=2, label=name)
    finish(axes, title, "learning rate")
    axes.legend(frameon=False, loc="upper right", bbox_to_anchor=(1.0, 0.96) if len(curves) > 3 else (1.0, 0.7))


def draw_cycle(axes: Axes) -> None:
    """Draw the rate of one cycle, and its momentum as the mirror image."""
    plan, steps = schedule({"schedule": "one_cycle", "momentum": 0.95}), range(EPOCHS * STEPS_PER_EPOCH + 1)
    epochs = [step / STEPS_PER_EPOCH for step in steps]
    axes.plot(epochs, [plan.learning_rate(s) for s in steps], color=COLOURS[0], linewidth=2, label="learning rate")
    finish(axes, "One cycle", "learning rate")
    beside = axes.twinx()
    beside.plot(epochs, [plan.momentum(s) for s in steps], color=COLOURS[1], linewidth=2, label="momentum")
    beside.set_ylabel("momentum", color=COLOURS[1])
    beside.set_ylim(0.84, 0.96)
    beside.spines[["top"]].set_visible(False)
    axes.set_ylabel("learning rate", color=COLOURS[0])
    axes.legend(
        [*axes.lines, *beside.lines],
        ["learning rate", "momentum"],
        frameon=False,
        loc="lower center",
        bbox_to_anchor=(0.62, 0.0),
    )


def finish(axes: Axes, title: str, label: str) -> None:
    """Title and label a panel."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("epochs")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def main() -> None:
    """Draw all of them into one picture."""
    figure = Figure(figsize=(13, 3.8), layout="constrained")
    warmups, decays, cycle = figure.subplots(1, 3)
    draw(warmups, "Warmup of 5 epochs, then constant", WARMUPS, epochs=8)
    draw(decays, "Schedules over 90 epochs", DECAYS, EPOCHS)
    draw_cycle(cycle)
    figure.suptitle("0.1 at batch 256, scaled linearly to 1.6 at batch 4,096", x=0.01, ha="left", fontsize=10)
    target = Path(__file__).parent / "pictures" / "schedules.png"
    figure.savefig(target, dpi=160)
    print(f"drawn in {target}")


if __name__ == "__main__":
    main()
