"""The schema of a run: every key, its type, its bounds and its default, stated once."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic import field_validator as validator

from scalewise.config.target import Target

Auto = Literal["auto"]
AUTO: Auto = "auto"

Fraction = Annotated[float, Field(ge=0, lt=1)]


class Section(BaseModel):
    """A frozen group of keys that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Recipe(Section):
    """What decides the trained model, together with the workload and the stopping rule."""

    global_batch: PositiveInt = Field(64, description="examples in one step, over all workers")
    microbatch: PositiveInt | Auto = Field(
        AUTO,
        description="examples that go through the network together; auto: at most 64, and at least 2 microbatches",
    )
    optimizer: Literal["sgd", "momentum", "nesterov_momentum"] = Field("nesterov_momentum", description="update rule")
    learning_rate: PositiveFloat = Field(0.1, description="learning rate of the first step")
    momentum: Fraction = Field(0.9, description="momentum of momentum and nesterov_momentum; sgd has none")
    weight_decay: NonNegativeFloat = Field(0.0, description="L2 penalty on matrices and filters")
    label_smoothing: Fraction = Field(0.0, description="share of each label spread over all classes")
    learning_rate_decay_steps: PositiveInt | None = Field(
        None, description="steps of linear decay; null: the rate stays constant"
    )
    end_learning_rate_factor: Annotated[float, Field(ge=0, le=1)] = Field(
        0.01, description="what is left of the rate after the decay"
    )
    seed: NonNegativeInt = Field(0, description="decides initial weights, example order and every random draw")
    exact: bool = Field(False, description="bit-identical for every number of workers")


class Stop(Section):
    """When training ends: at whichever comes first."""

    target: str | None = Field(None, description="a metric past a value, e.g. val/classification_error<0.05")
    steps: PositiveInt | None = Field(None, description="after so many steps")
    epochs: PositiveFloat | None = Field(None, description="after so many passes over the training examples")
    seconds: PositiveFloat | None = Field(None, description="after so many seconds of training")

    @validator("target")
    @classmethod
    def _parses(cls, text: str | None) -> str | None:
        return None if text is None else str(Target.parse(text))


class Evaluate(Section):
    """When and on what the metrics are measured; always at step 0 and at the end."""

    every_steps: PositiveInt | None = Field(None, description="measure every so many steps")
    every_examples: PositiveInt | Auto | None = Field(
        AUTO, description="measure every so many examples; auto: once an epoch, unless every_steps is given"
    )
    train_examples: PositiveInt | Auto = Field(
        AUTO, description="how many training examples are measured; auto: as many as val has"
    )
    batch: PositiveInt = Field(256, description="examples evaluated together")


class Checkpoint(Section):
    """When the state of a run is saved."""

    every_steps: PositiveInt | None = Field(None, description="save every so many steps")
    every_seconds: PositiveFloat | Auto | None = Field(
        AUTO, description="save every so many seconds; auto: every minute, or seldom enough to cost under 1 %"
    )
    keep: PositiveInt = Field(3, description="how many checkpoints are kept")


class Record(Section):
    """What a run writes beyond its folder's standard files."""

    tensorboard: bool = Field(False, description="also write TensorBoard event files")


class Cluster(Section):
    """What decides only how long it takes."""

    workers: PositiveInt = Field(1, description="training processes")
    threads_per_worker: PositiveInt | Auto = Field(
        AUTO, description="auto: the cores shared out among this machine's workers; 1 with exact"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: CUDA where there is a GPU per worker")
    max_restarts: NonNegativeInt = Field(3, description="how often a group that lost a worker starts again")
    timeout_seconds: PositiveFloat = Field(300.0, description="how long a worker waits for a silent one")


class Config(Section):
    """Everything about one run."""

    workload: str
    recipe: Recipe = Recipe()
    stop: Stop = Stop()
    evaluate: Evaluate = Evaluate()
    checkpoint: Checkpoint = Checkpoint()
    record: Record = Record()
    cluster: Cluster = Cluster()
