"""What a study is made of: for each batch size a space, a course, and the configuration of every trial."""

import dataclasses
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from scalewise.config import AUTO, Config, Target, load_config
from scalewise.errors import ConfigError, FolderError
from scalewise.loop.stopping import stop_rule
from scalewise.recipe.resolve import ResolvedConfig
from scalewise.record.confirmations import Confirmations
from scalewise.record.folder import RunFolder
from scalewise.record.results.study import StudyAsked, StudyDescription, StudySettings, StudyStage
from scalewise.record.study_folder import OWN, StudyFolder, TrialFolder
from scalewise.requests import StudyRequest
from scalewise.run.build import resolved
from scalewise.storage import LocalStore, Store
from scalewise.study.race import Course
from scalewise.study.space import Edge, Parameter, Space, default_space, point, read_spaces
from scalewise.workloads.find import find_workload
from scalewise.workloads.loading import load_splits

_EVALUATIONS_PER_EPOCH = 4


@dataclass(frozen=True)
class Stage:
    """A space, and the number of the first trial that is tried in it."""

    first_trial: int
    space: Space

    def as_recorded(self) -> StudyStage:
        """Return it as a study's description has it."""
        ranges = {name: parameter.as_range() for name, parameter in self.space.items()}
        return StudyStage(first_trial=self.first_trial, parameter_configs=ranges)

    @classmethod
    def of(cls, found: StudyStage) -> "Stage":
        """Read it from a study's description."""
        return cls(found.first_trial, {name: Parameter.of(one) for name, one in found.parameter_configs.items()})


@dataclass(frozen=True)
class BatchPlan:
    """The study of one batch size."""

    out: Path
    name: tuple[str, str, str]
    """Data set, model, optimizer."""
    base: Config
    """What all trials share."""
    course: Course
    stages: tuple[Stage, ...]
    """The space, and the wider ones that followed it."""
    target: Target
    train_examples: int
    trials_per_stage: int
    racing: bool
    seed: int
    space_file: Path | None
    overrides: tuple[str, ...]

    @property
    def batch_size(self) -> int:
        """The batch size that is studied."""
        return self.course.batch_size

    @property
    def trials(self) -> int:
        """How many trials there are in all."""
        return self.stages[-1].first_trial + self.trials_per_stage

    @property
    def space(self) -> Space:
        """The latest and widest space."""
        return self.stages[-1].space

    @property
    def store(self) -> Store:
        """The store of the whole study; the names below are relative to it."""
        return LocalStore(self.out)

    @property
    def _published(self) -> str:
        return "/".join((*self.name, str(self.batch_size)))

    @property
    def folder(self) -> StudyFolder:
        """Where the results go."""
        return StudyFolder(self.out / self._published)

    @property
    def runs(self) -> str:
        """Where the trials are trained."""
        return f"{OWN}/runs/{self._published}"

    def run_folder(self, trial_id: int) -> RunFolder:
        """Where a trial is trained."""
        return RunFolder(self.out / self.runs / str(trial_id))

    def trial(self, trial_id: int) -> str:
        """The name under which a trial is published."""
        return f"{self._published}/{trial_id}"

    def published(self, trial_id: int) -> TrialFolder:
        """Where a trial is published."""
        return TrialFolder(str(self.out / self.trial(trial_id)))

    def claimed(self, what: object) -> AbstractContextManager[bool]:
        """Try to claim a trial, or anything else that only one process may do at a time."""
        return self.store.claimed(f"{OWN}/claims/{self._published}/{what}")

    def parameters(self, trial_id: int) -> dict[str, float | int]:
        """Return what a trial tries."""
        stage = max((stage for stage in self.stages if stage.first_trial <= trial_id), key=lambda one: one.first_trial)
        study = "/".join((*self.name, str(self.batch_size), str(stage.first_trial)))
        return point(stage.space, study, self.seed, trial_id - stage.first_trial)

    def config(self, trial_id: int) -> ResolvedConfig:
        """Return the whole configuration of a trial."""
        recipe = {**self.base.recipe.model_dump(), **self.parameters(trial_id), "seed": trial_id}
        content = {**self.base.model_dump(), "recipe": recipe}
        return resolved(load_config(self.base.workload, content, None, []), workers=1)

    def fresh_config(self, trial_id: int, seed: int) -> ResolvedConfig:
        """Return a trial's configuration with another seed, which ends at the target.

        It keeps the limit of the trials, because a schedule may depend on it.
        """
        config = self.config(trial_id)
        recipe = config.recipe.model_copy(update={"seed": seed})
        stop = config.stop.model_copy(update={"target": self.target})
        return config.model_copy(update={"recipe": recipe, "stop": stop})

    @property
    def confirmations(self) -> Confirmations:
        """The fresh runs of the settings that were found."""
        return Confirmations(self.out / OWN / "confirmed" / self._published)

    def description(self) -> StudyDescription:
        """Return what study.json says; with racing no number of steps makes a trial complete, so `train_steps` is 0."""
        dataset, model, optimizer = self.name
        stages = tuple(stage.as_recorded() for stage in self.stages)
        settings = self.base.model_dump(mode="json", include={"workload", "recipe", "stop", "evaluate"})
        space = None if self.space_file is None else str(self.space_file)
        return StudyDescription(
            batch_size=self.batch_size,
            dataset=dataset,
            model=model,
            optimizer=optimizer,
            early_stopping=self.racing,
            train_steps=0 if self.racing else self.course.max_steps,
            parameter_configs=stages[-1].parameter_configs,
            stages=stages,
            target=str(self.target),
            max_steps=self.course.max_steps,
            train_examples=self.train_examples,
            seed=self.seed,
            settings=StudySettings.model_validate(settings),
            asked=StudyAsked(trials=self.trials_per_stage, space=space, overrides=self.overrides),
        )

    def taken_up(self) -> "BatchPlan":
        """Return the plan with the stages that its folder has; a folder with another study is refused."""
        if not self.folder.described():
            return self
        there = self.folder.description()
        try:
            stages = [Stage.of(stage) for stage in there.stages]
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise FolderError(f"{self.folder.path} is damaged: its stages are invalid: {why}") from None
        plan = dataclasses.replace(self, stages=(*self.stages, *stages[1:]))
        if found := there.differs_from(plan.description()):
            raise FolderError(f"{self.folder.path} holds another study: {'; '.join(found[:3])}; use another --out")
        return plan

    def widened(self, best: Mapping[str, float | int]) -> "BatchPlan":
        """Return the plan with one more stage, whose ranges are wider where the best trial is at their end."""
        wider = {name: self.space[name].widened(edge) for name, edge in self.edges(best).items()}
        if not wider:
            return self
        return dataclasses.replace(self, stages=(*self.stages, Stage(self.trials, {**self.space, **wider})))

    def edges(self, best: Mapping[str, float | int]) -> dict[str, Edge]:
        """Return which settings of the best trial are at an end of their range."""
        found = {name: parameter.at_edge(best[name]) for name, parameter in self.space.items()}
        return {name: edge for name, edge in found.items() if edge is not None}


def plan_study(request: StudyRequest) -> list[BatchPlan]:
    """Plan every batch size; every mistake is found here."""
    _check(request)
    workload = find_workload(request.workload)
    train_examples = len(load_splits(workload)["train"])
    plans = [_plan(request, workload.defaults, batch_size, train_examples) for batch_size in request.batch_sizes]
    for plan in plans:
        plan.config(0)
    return [plan.taken_up() for plan in plans]


def _check(request: StudyRequest) -> None:
    if request.max_epochs is not None and not request.max_epochs > 0:
        raise ConfigError(f"--max-epochs {request.max_epochs:g} must be greater than 0")
    if request.max_steps is not None and request.max_epochs is not None:
        raise ConfigError("give --max-steps or --max-epochs, not both")


def _plan(request: StudyRequest, defaults: Mapping[str, Any], batch_size: int, train_examples: int) -> BatchPlan:
    if batch_size > train_examples:
        raise ConfigError(
            f"batch size {batch_size:,} is larger than the {train_examples:,} training examples: "
            "it would contain some of them twice"
        )
    own = load_config(request.workload, defaults, None, request.overrides)
    optimizer = request.optimizer or own.recipe.optimizer
    stop = _budget(request, own, train_examples)
    every_examples = own.evaluate.every_examples
    if not isinstance(every_examples, int) or own.evaluate.every_steps is not None:
        every_examples = max(1, train_examples // _EVALUATIONS_PER_EPOCH)
    shared = {
        "recipe": {"global_batch": batch_size, "optimizer": optimizer, "microbatch": _microbatch(own, batch_size)},
        "stop": stop,
        "evaluate": {"every_examples": every_examples, "every_steps": None},
        "checkpoint": {"every_seconds": 60.0, "keep": 1},
        "cluster": {"threads_per_worker": 1, "device": own.cluster.device},
        "performance": {"memory_format": "channels_last", "compile": False, "bucket_megabytes": None},
    }
    content = {**own.model_dump(), "workload": request.workload}
    base = load_config(request.workload, content, None, [], _merged(content, shared))
    last_step = stop_rule(base.stop, batch_size, train_examples).last_step
    assert last_step is not None
    course = Course(batch_size, every_examples, last_step)
    target = _target(request, own)
    name = (*_names(request.workload), optimizer)
    return BatchPlan(
        out=request.out,
        name=name,
        base=base,
        course=course,
        stages=(Stage(0, _space(request, own, optimizer, batch_size)),),
        target=target,
        train_examples=train_examples,
        trials_per_stage=request.trials,
        racing=request.racing,
        seed=request.seed,
        space_file=request.space,
        overrides=request.overrides,
    )


def _merged(content: Mapping[str, Any], shared: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {section: {**content.get(section, {}), **values} for section, values in shared.items()}


def _budget(request: StudyRequest, own: Config, train_examples: int) -> dict[str, Any]:
    """Say where every trial ends at the latest."""
    nothing = {"target": None, "steps": None, "epochs": None, "seconds": None}
    if request.max_steps is not None:
        return {**nothing, "steps": request.max_steps}
    epochs = request.max_epochs or own.stop.epochs
    if epochs is None:
        raise ConfigError("nothing ends a trial that never reaches the target: give --max-steps or --max-epochs")
    return {**nothing, "epochs": epochs}


def _microbatch(own: Config, batch_size: int) -> int | str:
    """Keep the workload's microbatch where it fits."""
    wanted = own.recipe.microbatch
    return wanted if wanted == AUTO else min(int(wanted), batch_size)


def _target(request: StudyRequest, own: Config) -> Target:
    if request.target is not None:
        return Target.parse(request.target)
    if own.stop.target is not None:
        return own.stop.target
    raise ConfigError(f"{request.workload} has no target: name one with --target")


def _space(request: StudyRequest, own: Config, optimizer: str, batch_size: int) -> Space:
    recipe = own.recipe
    if request.space is None:
        return default_space(optimizer, recipe.learning_rate, recipe.reference_batch, batch_size)
    space = read_spaces(request.space).at(batch_size)
    if not space:
        raise ConfigError(f"{request.space} searches nothing at batch size {batch_size}")
    if optimizer == "sgd" and "momentum" in space:
        raise ConfigError(f"{request.space} searches momentum, which sgd does not have")
    return space


def _names(workload: str) -> tuple[str, str]:
    """Name data set and model as the layout has them; a user's own workload by its file and its class."""
    path, colon, class_name = workload.rpartition(":")
    if colon:
        return re.sub(r"\W+", "_", Path(path).stem), class_name
    dataset, _, model = workload.rpartition("/")
    return dataset, model
