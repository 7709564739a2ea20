"""The recipe file and the command of a recommended choice."""

import dataclasses
import math
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scalewise.config import Config, to_yaml
from scalewise.plan.candidates import Candidate
from scalewise.plan.steps_source import StepsSource
from scalewise.recipe.resolve import ResolvedConfig, resolve
from scalewise.record.folder import RunFolder
from scalewise.requests import TrainRequest, arguments, command_line, given_in_python
from scalewise.storage import write_result

_WORKLOAD = "WORKLOAD"
"""Placeholder for the workload if only its steps are known."""
_SCRIPT = "YOUR_SCRIPT.py"
"""Placeholder for the script that defines a workload given in Python."""
_PATIENCE = 3.0
"""How many times its expected steps a run may take, if no other limit is known."""


@dataclass(frozen=True)
class Recommendation:
    """What to train with, and how to start it."""

    name: str
    recipe: Path
    command: str


def write_recommendation(out: Path, name: str, choice: Candidate, source: StepsSource) -> Recommendation:
    """Write the recipe of a choice into its own folder."""
    file = RunFolder(out / name).config_file
    write_result(file, recipe_of(choice, source).encode())
    return Recommendation(name, file, _command(choice, file, str(source.settings.get("workload", _WORKLOAD))))


def recipe_of(choice: Candidate, source: StepsSource) -> str:
    """Return the recipe of a choice as a file has it."""
    content = {
        **source.settings,
        "recipe": {**source.settings.get("recipe", {}), **_recipe(choice, source)},
        "stop": {**source.settings.get("stop", {}), **_limit(choice, source)},
    }
    if "workload" in content:  # what a study was trained with, as its trials understood it
        return to_yaml(_fed(resolve(Config.model_validate(content)), choice))
    content["recipe"]["microbatch"] = _largest(choice)
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text


def _recipe(choice: Candidate, source: StepsSource) -> dict[str, Any]:
    """Return what the choice decides: the settings of the best trial, or only the rate between two of them."""
    batch, rate = choice.statistic.global_batch, choice.statistic.learning_rate
    found = source.trials.get(batch, {} if rate is None else {"learning_rate": rate})
    return {**found, "scaling": "none", "global_batch": batch}


def _limit(choice: Candidate, source: StepsSource) -> dict[str, int | None]:
    """Return where the run ends if it never reaches the target.

    For a batch size that was studied, that is where its trials ended, because a schedule may depend on it.
    """
    known = choice.statistic
    limit = source.limits.get(known.global_batch, math.ceil(_PATIENCE * known.steps))
    return {"steps": limit, "epochs": None}


def _fed(config: ResolvedConfig, choice: Candidate) -> ResolvedConfig:
    """Keep the microbatch of the trials, unless some worker would have none, or it would not fit into memory."""
    microbatch = min(config.recipe.microbatch, _largest(choice))
    return config.model_copy(update={"recipe": config.recipe.model_copy(update={"microbatch": microbatch})})


def _largest(choice: Candidate) -> int:
    """Return the largest microbatch that every worker has one of, and that fits into its memory."""
    per_worker = max(1, choice.statistic.global_batch // choice.cluster.workers)
    return min(per_worker, choice.cluster.largest_microbatch or per_worker)


def _command(choice: Candidate, recipe: Path, workload: str) -> str:
    cluster = choice.cluster
    request = TrainRequest(workload=workload, recipe=str(recipe))
    if cluster.nodes == 1:
        return command_line(dataclasses.replace(request, workers=cluster.workers))
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "FIRST_NODE:29500"]
    group = ["--nnodes", str(cluster.nodes), "--nproc-per-node", str(cluster.workers_per_node)]
    start = ["torchrun", *group, *meeting]
    if given_in_python(workload):
        return f"{shlex.join([*start, _SCRIPT])}  # which calls {command_line(request)}"
    return shlex.join([*start, "-m", "scalewise", *arguments(request)])
