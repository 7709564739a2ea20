"""Which runs a comparison is made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scalewise.compare.results import trial_folder
from scalewise.config import load_config
from scalewise.errors import ConfigError
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.record.folder import RunFolder
from scalewise.record.results.compare import BASELINE, Condition
from scalewise.requests import CompareRequest, by_commas
from scalewise.run.build import resolved
from scalewise.workloads.find import find_workload


@dataclass(frozen=True)
class Trial:
    """A condition with one seed: one run."""

    condition: Condition
    seed: int
    config: ResolvedConfig
    folder: RunFolder
    recipe_file: Path


def conditions(request: CompareRequest) -> list[Condition]:
    """Return the baseline and every recipe."""
    found = [_condition(BASELINE, request.workload, "naive", request.baseline_batch)]
    for item in request.recipes:
        recipe, _, workload = item.partition("@")
        if not recipe:
            raise ConfigError(f"--recipes {by_commas(request.recipes)!r} has an item without a recipe")
        found.append(_condition(item, workload or request.workload, recipe, request.global_batch))
    names = [condition.name for condition in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"--recipes names {twice!r} twice")
    return found


def _condition(name: str, workload: str, recipe: str, global_batch: int) -> Condition:
    return Condition(name=name, workload=workload, recipe=recipe, global_batch=global_batch)


def trials(request: CompareRequest) -> list[Trial]:
    """Return all runs, seed by seed, so that a first whole table is there early; every mistake is found here."""
    return list(_trials(request))


def _trials(request: CompareRequest) -> Iterator[Trial]:
    for seed in range(request.seeds):
        for condition in conditions(request):
            name = condition.name.replace("/", "_")
            yield Trial(
                condition,
                seed,
                _config(request, condition, seed),
                trial_folder(request.out, condition, seed),
                request.out / "recipes" / f"{name}-{seed}.yaml",
            )


def _config(request: CompareRequest, condition: Condition, seed: int) -> ResolvedConfig:
    """Lay a condition between the workload's own recipe and the user's overrides."""
    shared = {
        "recipe": {
            "global_batch": condition.global_batch,
            "reference_batch": request.baseline_batch,
            **({} if request.learning_rate is None else {"learning_rate": request.learning_rate}),
        },
        "stop": {"target": None, "steps": None, "seconds": None, "epochs": request.epochs},
    }
    workload = find_workload(condition.workload)
    overrides = [*request.overrides, f"recipe.seed={seed}"]
    config = load_config(condition.workload, workload.defaults, condition.recipe, overrides, shared)
    return resolved(config, request.workers)
