"""What the study of one batch size is, as the public batch-science layout has it, with keys of our own beside its."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import (
    Field,
    NonNegativeInt,
    PositiveInt,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_serializer,
)

from scalewise.config import Recipe, differences
from scalewise.record.results.file import ResultFile, ResultPart


def _none_where_odd(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError:
        return None


Tolerated = WrapValidator(_none_where_odd)
"""For keys of the layout that nothing here depends on: others' files may have anything there."""
Name = Annotated[str, Field(coerce_numbers_to_str=True)]


class ParameterRange(ResultPart):
    """What was searched of one setting."""

    type: Annotated[str | None, Tolerated] = None
    min_value: Annotated[int | float | None, Tolerated] = None
    max_value: Annotated[int | float | None, Tolerated] = None
    scale: Annotated[str | None, Tolerated] = None
    feasible_points: Annotated[list[Any] | None, Tolerated] = None

    @model_serializer(mode="wrap")
    def _without_none(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write only what the layout has for such a parameter."""
        return {name: value for name, value in write(self).items() if value is not None}


class StudyStage(ResultPart):
    """A space, and the number of the first trial that is tried in it."""

    first_trial: int
    parameter_configs: dict[str, ParameterRange]


class TrialLimit(ResultPart):
    """Where every trial ends at the latest."""

    target: str | None = None
    steps: int | None = None
    epochs: float | None = None
    seconds: float | None = None


class StudySettings(ResultPart):
    """What all trials share, in the words of a configuration."""

    workload: str
    recipe: dict[str, Any] = Field(default_factory=dict)
    stop: TrialLimit = TrialLimit()
    evaluate: dict[str, Any] = Field(default_factory=dict)

    @field_validator("recipe")
    @classmethod
    def _with_settings_added_since(cls, recipe: dict[str, Any]) -> dict[str, Any]:
        """Fill in what an older version did not know, so that a new setting does not make it another study."""
        return Recipe.model_validate(recipe).model_dump(mode="json") if recipe else recipe


class StudyAsked(ResultPart):
    """What a reader needs to repeat the study; the rest of its description says what it comes to."""

    trials: int | None = None
    space: str | None = None
    overrides: tuple[str, ...] = ()


class StudyDescription(ResultFile):
    """`study.json`. The keys down to `parameter_configs` are the layout's, the others are ours."""

    file_name: ClassVar[str] = "study.json"
    leaves_out_none: ClassVar[bool] = False

    batch_size: PositiveInt
    dataset: Name
    model: Name
    optimizer: Name
    early_stopping: Annotated[bool | None, Tolerated] = None
    train_steps: Annotated[int | None, Tolerated] = None
    parameter_configs: Annotated[dict[str, ParameterRange] | None, Tolerated] = None
    stages: tuple[StudyStage, ...] = ()
    target: Name | None = None
    max_steps: int | None = None
    train_examples: Annotated[NonNegativeInt | None, Tolerated] = None
    seed: int | None = None
    settings: StudySettings | None = None
    asked: StudyAsked = StudyAsked()

    @property
    def workload(self) -> tuple[str, str, str]:
        """What the batch size is varied for."""
        return self.dataset, self.model, self.optimizer

    @property
    def below(self) -> Path:
        """Where the study lies below the folder of all studies."""
        return Path(*self.workload, str(self.batch_size))

    def differs_from(self, other: "StudyDescription") -> list[str]:
        """Say in what another study differs, whatever was asked to get there."""
        there, now = (one.model_dump(mode="json", exclude={"asked"}) for one in (self, other))
        return differences(there, now)
