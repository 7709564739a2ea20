"""What `same_model.py` trains: a line for each thing that decides a model, and the commands that it comes to."""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from same_model_outcomes import Outcome, read_run, read_study


@dataclass(frozen=True)
class Case:
    """One recipe, and the ways in which it is trained, all of which must give the same model."""

    words: str
    """A workload, then settings and options."""
    ways: str = "1"
    """On how many workers; `2>3`: begun on two, stopped, resumed on three. Of a study: how many jobs."""
    like: str | None = None
    """Another case that must give the same model, too."""
    command: Literal["train", "study"] = "train"


_STUDY = "--batch-sizes 16,64 --trials 6 --max-epochs 4 --target 'val/classification_error<0.2' recipe.exact=true"

# A change that adds something that decides a model adds its line here.
CASES = {
    "sgd": Case("Dense recipe.optimizer=sgd"),
    "momentum": Case("Dense recipe.optimizer=momentum recipe.weight_decay=0.01"),
    "nesterov momentum": Case("Dense recipe.weight_decay=0.01"),
    "rmsprop": Case("Dense recipe.optimizer=rmsprop recipe.learning_rate=0.001"),
    "adamw": Case("Dense recipe.optimizer=adamw recipe.learning_rate=0.01 recipe.weight_decay=0.01"),
    "lars": Case("BatchNorm recipe.optimizer=lars recipe.learning_rate=5 recipe.weight_decay=0.001"),
    "lamb": Case("BatchNorm recipe.optimizer=lamb recipe.learning_rate=0.02 recipe.weight_decay=0.01"),
    "dropout": Case("Dropout", "1 2 3 1>1 2>3"),
    # Without readers, which do not decide the model: forked ones hang now and then in Python 3.11.7 (cpython#112275).
    "stored data": Case("Stored cluster.readers=0", "1 2", like="dropout"),
    "batch norm": Case("BatchNorm", "1 2"),
    "norm of one's own": Case("NormAct recipe.ghost_batch=3", "1 3 2>1"),
    "ghost norm": Case("BatchNorm recipe.ghost_batch=3", "1 3"),
    "averaging": Case("BatchNorm recipe.average_half_life='200 examples'", "1 1>2"),
    "bf16": Case("BatchNorm recipe.precision=bf16"),
    "fp16": Case("BatchNorm recipe.precision=fp16 recipe.clip_norm=1", "1 2"),
    "fp16 that overflows": Case("Regression recipe.precision=fp16 recipe.learning_rate=0.001", "1 1>1"),
    "fp16, fixed scale": Case("Dropout recipe.precision=fp16 recipe.loss_scale=128"),
    "adasum": Case("BatchNorm recipe.combine=adasum", "1 3"),
    "noise scale": Case("Dropout noise_scale.every_steps=2", "1 2"),
    "clipping": Case("Dropout recipe.clip_norm=0.5"),
    "label smoothing": Case("Dropout recipe.label_smoothing=0.1"),
    "augmentation": Case("AnySize recipe.augmentation=flip_and_crop"),
    "image sizes": Case("AnySize recipe.image_sizes='[[0 steps, 4], [6 steps, 6], [13 steps, 8]]'", "1 1>1"),
    "zero branches": Case("AnySize recipe.zero_init_residual=true"),
    "gradual warmup, cosine": Case(
        "Dense recipe.scaling=linear recipe.reference_batch=12 recipe.warmup=gradual recipe.warmup_length='5 steps' "
        "recipe.schedule=cosine",
        "1 1>1",
    ),
    "stepping warmup, linear": Case(
        "Dense recipe.scaling=square_root recipe.reference_batch=9 recipe.warmup=stepping "
        "recipe.warmup_length='0.5 epochs' recipe.learning_rate_decay_steps=15"
    ),
    "drops": Case("Dense recipe.schedule=steps recipe.drop_at='[6 steps, 500 examples]'"),
    "exponential": Case("Dense recipe.schedule=exponential"),
    "polynomial": Case("Dense recipe.schedule=polynomial"),
    "one cycle": Case("Dense recipe.schedule=one_cycle recipe.optimizer=momentum"),
    "to a target": Case("Dense recipe.seed=1 stop.target='val/classification_error<0.2'"),
    "diverged": Case("Dense recipe.optimizer=sgd recipe.learning_rate=1e30"),
    "a loss of one's own": Case("Regression recipe.learning_rate=0.001"),
    "trees and weights": Case("Weighed recipe.learning_rate=0.001 recipe.clip_norm=1", "1 2 3 2>1"),
    "weights in fp16": Case("Weighed recipe.learning_rate=0.001 recipe.precision=fp16", "1 3"),
    "noise scale of weights": Case("Weighed recipe.learning_rate=0.001 noise_scale.every_steps=2", "1 2"),
    "to a training loss": Case("Dropout stop.loss='train_loss<1.6' stop.loss_window='5 steps'", "1 3 1>2"),
    "a built-in workload": Case("digits/fc_16 recipe.microbatch=24 stop.steps=20"),
    "raced study": Case(f"Dense {_STUDY}", ways="2", command="study"),
}

_WORKLOADS = Path(__file__).resolve().with_name("same_model_workloads.py")
_SETTING = re.compile(r"[a-z_]+\.[a-z_]+=")
_COMPLETE, _DIVERGED, _STOPPED = 0, 3, 4
_STOP_AFTER_MICROBATCHES = 20
"""Of one worker: on one worker in the fourth step, on three in the tenth."""


@dataclass(frozen=True)
class Run:
    """One way of a case."""

    name: str
    case: Case
    way: str
    like: str | None
    """Another run, which must give the same model."""

    def commands(self, out: Path) -> list[dict[str, Any]]:
        """Return the commands that it takes: each but the last is stopped in the middle, and the next resumes."""
        *stopped, last = self.way.split(">")
        stop = {"SAME_MODEL_STOP_AFTER": str(_STOP_AFTER_MICROBATCHES)}
        return [
            *(self._command(out, processes, stop, [_STOPPED]) for processes in stopped),
            self._command(out, last, {}, [_COMPLETE, _DIVERGED]),
        ]

    def _command(
        self, out: Path, processes: str, environment: Mapping[str, str], expected: Sequence[int]
    ) -> dict[str, Any]:
        workload, *words = shlex.split(self.case.words)
        name = workload if "/" in workload else f"{_WORKLOADS}:{workload}"
        options = [part for word in words for part in (("--set", word) if _SETTING.match(word) else (word,))]
        how = ["--jobs", processes] if self.case.command == "study" else ["--workers", processes, "--exact", "--quiet"]
        arguments = [self.case.command, name, "--out", str(out), *how, *options]
        return {"arguments": arguments, "environment": environment, "expected": expected}

    def outcome(self, out: Path) -> Outcome:
        """Read what it came to."""
        return read_study(out) if self.case.command == "study" else read_run(out)


def runs_of(names: Collection[str]) -> list[Run]:
    """List every way of some cases, and of those that they must be like."""
    liked = [like for name in names if (like := CASES[name].like) is not None]
    return [run for name, case in CASES.items() if name in {*names, *liked} for run in _ways(name, case)]


def _ways(name: str, case: Case) -> list[Run]:
    first, *others = case.ways.split()
    more = [Run(f"{name}, on {way.replace('>', ' then ')}", case, way, like=name) for way in others]
    return [Run(name, case, first, like=case.like), *more]
