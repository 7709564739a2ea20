"""Measures what each piece of a recipe costs per step, and LARS and LAMB beside torch's AdamW."""

import functools
import time
from collections.abc import Callable
from statistics import median
from typing import Annotated, Any

import torch
import typer
from torch import Tensor, nn

from results import write_results
from rounds import ratios, spread, take_turns
from scalewise.cluster.world import World
from scalewise.config import Recipe, load_config
from scalewise.loop.step import take_step
from scalewise.loop.votes import Votes
from scalewise.optim.flat import flatten
from scalewise.optim.optimizers import make_optimizer
from scalewise.recipe.resolve import resolve_recipe
from scalewise.run.build import build_loop, resolved
from scalewise.workloads import Workload
from scalewise.workloads.find import find_workload
from tables import optimizers_table, pieces_table, render_readme

_WORKLOAD = "cifar_10/resnet_8"
_GLOBAL_BATCH, _MICROBATCH = 256, 64
_STEPS_PER_ROUND = 4
_THREADS = 1
_PLAIN = "nesterov_momentum"

_PIECES: dict[str, tuple[str, ...]] = {
    _PLAIN: (),
    "momentum": ("recipe.optimizer=momentum",),
    "rmsprop": ("recipe.optimizer=rmsprop", "recipe.learning_rate=0.001"),
    "adamw": ("recipe.optimizer=adamw", "recipe.learning_rate=0.001"),
    "lars": ("recipe.optimizer=lars",),
    "lamb": ("recipe.optimizer=lamb", "recipe.learning_rate=0.001"),
    "clipping": ("recipe.clip_norm=1",),
    "ghost batch 16": ("recipe.ghost_batch=16",),
    "averaging": ("recipe.average_half_life=1 epochs",),
    "flips and crops": ("recipe.augmentation=flip_and_crop",),
    "images of 16": ("recipe.image_sizes=[[0 steps, 16]]",),
    "adasum": ("recipe.combine=adasum",),
    "noise scale, at every step": ("noise_scale.every_steps=1",),
    "bf16": ("recipe.precision=bf16",),
    "fp16": ("recipe.precision=fp16",),
}


def main(rounds: Annotated[int, typer.Option(min=1, help="how often everything is measured")] = 5) -> None:
    """Measure everything in turns, write results/recipes.json and the tables in README.md."""
    torch.set_num_threads(_THREADS)
    optimizers = _optimizers(rounds)
    print(optimizers_table(optimizers), flush=True)
    pieces = _pieces(rounds)
    print(pieces_table(pieces), flush=True)
    content = {"threads": _THREADS, "rounds": rounds, "workload": _WORKLOAD, "global_batch": _GLOBAL_BATCH}
    write_results("recipes", {**content, "microbatch": _MICROBATCH, "pieces": pieces, "optimizers": optimizers})
    render_readme()


def _pieces(rounds: int) -> list[dict[str, Any]]:
    seconds = take_turns({name: _step_seconds(settings) for name, settings in _PIECES.items()}, rounds)
    return [_row(name, values, ratios(values, seconds[_PLAIN])) for name, values in seconds.items()]


def _step_seconds(settings: tuple[str, ...]) -> Callable[[], float]:
    """Build the loop of a piece and warm it up; return the measurement of its seconds per step."""
    workload = _workload()
    shared = (f"recipe.global_batch={_GLOBAL_BATCH}", f"recipe.microbatch={_MICROBATCH}", "stop.target=null")
    config = resolved(load_config(_WORKLOAD, workload.defaults, None, [*shared, *settings]), workers=1)
    parts = build_loop(config, workload, World(), torch.device("cpu"), lambda: False).parts

    def measure() -> float:
        started = time.perf_counter()
        for _ in range(_STEPS_PER_ROUND):
            take_step(parts, Votes)
        return (time.perf_counter() - started) / _STEPS_PER_ROUND

    measure()
    return measure


@functools.cache
def _workload() -> Workload:
    """Return the workload with its data loaded once for all pieces."""
    workload = find_workload(_WORKLOAD)
    workload.data = functools.cache(workload.data)  # type: ignore[method-assign]
    return workload


def _optimizers(rounds: int) -> list[dict[str, Any]]:
    """Time the update alone, on parameters of the shapes of ResNet-50."""
    measures = {"torch.optim.AdamW, foreach": _torch_adamw()}
    for name in ("adamw", "lars", "lamb"):
        measures[f"scalewise {name}"] = _our_update(name)
    seconds = take_turns(measures, 3 * rounds)
    theirs = seconds["torch.optim.AdamW, foreach"]
    return [_row(name, values, ratios(values, theirs)) for name, values in seconds.items()]


def _torch_adamw() -> Callable[[], float]:
    parameters = list(_resnet_50_sized().parameters())
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01, foreach=True)
    return _timed(optimizer.step)


def _our_update(name: str) -> Callable[[], float]:
    weights = flatten(_resnet_50_sized())
    gradients: Tensor = torch.randn_like(weights.vector)
    recipe = Recipe.model_validate({"optimizer": name, "weight_decay": 0.01})
    optimizer = make_optimizer(resolve_recipe(recipe), weights, gradients)
    return _timed(lambda: optimizer.step(1e-3, 0.9, 10))


def _timed(update: Callable[[], Any]) -> Callable[[], float]:
    def measure() -> float:
        started = time.perf_counter()
        update()
        return time.perf_counter() - started

    measure()
    return measure


def _resnet_50_sized() -> nn.Module:
    """Return parameters with the shapes of ResNet-50: 161 of them, 25.6 million numbers."""
    shapes: list[tuple[int, ...]] = [(64, 3, 7, 7), (64,), (64,)]

    def convolution(inputs: int, outputs: int, size: int) -> None:
        shapes.extend([(outputs, inputs, size, size), (outputs,), (outputs,)])

    channels = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            convolution(channels, width, 1)
            convolution(width, width, 3)
            convolution(width, 4 * width, 1)
            if block == 0:
                convolution(channels, 4 * width, 1)
            channels = 4 * width
    shapes += [(1000, channels), (1000,)]
    assert len(shapes) == 161
    return nn.ParameterList([nn.Parameter(torch.randn(shape) * 0.01) for shape in shapes])


def _row(name: str, seconds: list[float], ratio: list[float]) -> dict[str, Any]:
    return {
        "name": name,
        "seconds": round(median(seconds), 6),
        "ratio": round(median(ratio), 3),
        "ratio_range": [round(end, 3) for end in spread(ratio)],
    }


if __name__ == "__main__":
    typer.run(main)
