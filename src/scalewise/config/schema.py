"""The schema of a run: every key, its type, its bounds and its default, stated once."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from scalewise.config.duration import Duration, DurationField, Unit
from scalewise.config.target import LossTargetField, TargetField

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
    seed: NonNegativeInt = Field(0, description="decides initial weights, example order and every random draw")
    exact: bool = Field(False, description="bit-identical for every number of workers")

    optimizer: Literal["sgd", "momentum", "nesterov_momentum", "rmsprop", "adamw", "lars", "lamb"] = Field(
        "nesterov_momentum", description="update rule"
    )
    learning_rate: PositiveFloat = Field(0.1, description="full learning rate, at `reference_batch`")
    momentum: Fraction = Field(0.9, description="share of the past in the direction; beta1 of adamw and lamb; not sgd")
    second_moment: Fraction | Auto | None = Field(
        AUTO, description="share of the past in the squares: beta2 of adamw and lamb (auto: 0.999), rmsprop (0.99)"
    )
    epsilon: PositiveFloat | Auto | None = Field(
        AUTO, description="added to the root of the squares; auto: 1e-8, for lamb 1e-6"
    )
    lars_coefficient: Annotated[float, Field(gt=0, le=1)] = Field(
        0.001, description="how far lars moves a layer, against the layer's size"
    )
    weight_decay: NonNegativeFloat = Field(0.0, description="penalty on matrices and filters; decoupled in adamw, lamb")
    clip_norm: PositiveFloat | None = Field(
        None, description="largest gradient norm, over all weights; null: no clipping"
    )
    combine: Literal["mean", "adasum"] = Field("mean", description="how the microbatches' gradients become one")

    scaling: Literal["none", "linear", "square_root"] = Field(
        "none", description="how the rate grows from `reference_batch` to `global_batch`"
    )
    reference_batch: PositiveInt = Field(
        256, description="the batch that learning_rate is for; unless set, that of the workload's own recipe"
    )
    warmup: Literal["none", "stepping", "gradual"] = Field("none", description="how the rate gets to its full value")
    warmup_length: DurationField = Field(Duration(5, Unit.EPOCHS), description="how long the warmup takes")
    warmup_start_factor: Annotated[float, Field(ge=0, le=1)] | Auto | None = Field(
        AUTO, description="where gradual begins; auto: at the unscaled rate, else at a microbatch's share of the rate"
    )
    schedule: Literal["constant", "steps", "exponential", "polynomial", "linear", "cosine", "one_cycle"] | Auto = Field(
        AUTO, description="what the rate does then; auto: linear with learning_rate_decay_steps, else constant"
    )
    schedule_length: DurationField | Literal["run"] | Auto | None = Field(
        AUTO, description="when the schedule ends, counted from the start; auto: run, when the run ends"
    )
    learning_rate_decay_steps: PositiveInt | None = Field(None, description="schedule_length in steps")
    end_learning_rate_factor: Annotated[float, Field(ge=0, le=1)] | Auto | None = Field(
        AUTO,
        description="what is left of the rate at the end; auto: linear 0.01, exponential 0.1, one_cycle 0.0001, else 0",
    )
    polynomial_power: PositiveFloat = Field(2.0, description="power of the polynomial schedule")
    drop_at: tuple[DurationField, ...] = Field(
        tuple(Duration(epochs, Unit.EPOCHS) for epochs in (30, 60, 80)),
        description="when the schedule `steps` drops the rate",
    )
    drop_factor: Annotated[float, Field(gt=0, lt=1)] = Field(0.1, description="what is left of the rate after a drop")
    cycle_start_factor: Annotated[float, Field(gt=0, le=1)] = Field(
        0.04, description="where one_cycle begins, against the full rate"
    )
    cycle_peak: Annotated[float, Field(gt=0, lt=1)] = Field(0.3, description="share of one_cycle that goes up")
    cycle_momentum: Fraction = Field(0.85, description="momentum at the peak of one_cycle; `momentum` at both ends")

    ghost_batch: Annotated[int, Field(ge=2)] | None = Field(
        None, description="examples that batch normalisation sees together; null: a microbatch"
    )
    average_half_life: DurationField | None = Field(
        None, description="half-life of the running average of the weights; null: no averaging"
    )
    precision: Literal["fp32", "bf16", "fp16"] = Field(
        "fp32", description="of the network's arithmetic; weights are fp32"
    )
    loss_scale: PositiveFloat | Literal["dynamic"] | Auto | None = Field(
        AUTO, description="what fp16 multiplies the loss by: a number, or dynamic, which is auto"
    )
    label_smoothing: Fraction = Field(0.0, description="share of each label spread over all classes")
    zero_init_residual: bool = Field(False, description="begin with residual branches that add nothing")
    augmentation: Literal["none", "flip_and_crop"] = Field("none", description="what is done to training images")
    image_sizes: tuple[tuple[DurationField, Annotated[int, Field(ge=4)]], ...] = Field(
        (), description="sizes that training images are scaled to, and from when on, e.g. [[0 epochs, 16]]"
    )


class Stop(Section):
    """When training ends: at whichever comes first."""

    target: TargetField | None = Field(None, description="a metric past a value, e.g. val/classification_error<0.05")
    loss: LossTargetField | None = Field(
        None, description="the training loss past a value, as a mean over `loss_window`, e.g. train_loss<5.0"
    )
    loss_window: DurationField = Field(
        Duration(100, Unit.STEPS), description="how much training `loss` is a mean over; nothing ends before it is full"
    )
    steps: PositiveInt | None = Field(None, description="after so many steps")
    epochs: PositiveFloat | None = Field(None, description="after so many passes over the training examples")
    seconds: PositiveFloat | None = Field(None, description="after so many seconds of training")


class Evaluate(Section):
    """When and on what the metrics are measured; always at step 0 and at the end."""

    every_steps: PositiveInt | None = Field(None, description="measure every so many steps")
    every_examples: PositiveInt | Literal["epoch"] | Auto | None = Field(
        AUTO, description="measure every so many examples; auto: epoch, unless every_steps is given"
    )
    train_examples: PositiveInt | Literal["as_val"] | Auto = Field(
        AUTO, description="how many training examples are measured; auto: as_val, as many as val has"
    )
    batch: PositiveInt = Field(256, description="examples evaluated together")


class Checkpoint(Section):
    """When the state of a run is saved."""

    every_steps: PositiveInt | None = Field(None, description="save every so many steps")
    every_seconds: PositiveFloat | Auto | None = Field(
        AUTO, description="save every so many seconds; auto: every minute"
    )
    share_of_time: Fraction | Auto | None = Field(
        AUTO, description="save less often where it takes more of the time; auto: 0.01, null where an interval is given"
    )
    keep: PositiveInt = Field(3, description="how many checkpoints are kept")


class Noise(Section):
    """The gradient noise scale, from the microbatches of a step."""

    every_steps: PositiveInt | None = Field(None, description="measure it every so many steps; null: not at all")


class Record(Section):
    """What a run writes beyond its folder's standard files."""

    tensorboard: bool = Field(False, description="also write TensorBoard event files")


class Cluster(Section):
    """What decides only how long it takes."""

    workers: PositiveInt = Field(1, description="training processes")
    threads_per_worker: PositiveInt | Auto = Field(
        AUTO, description="auto: the cores shared out among this machine's workers, or 1 if faster; 1 with exact"
    )
    readers: NonNegativeInt | Auto = Field(
        AUTO, description="processes per worker that read ahead what is not in memory; auto: as many as it has cores"
    )
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="auto: CUDA where there is a GPU per worker")
    wire: Literal["fp32", "bf16", "fp16"] = Field(
        "fp32", description="how gradients travel between workers; less than fp32 gives up equality over workers"
    )
    max_restarts: NonNegativeInt = Field(3, description="how often a group that lost a worker starts again")
    timeout_seconds: PositiveFloat = Field(300.0, description="how long a worker waits for a silent one")


class Performance(Section):
    """How the same arithmetic is done: it decides the time, and of the model no more than rounding."""

    memory_format: Literal["channels_last", "contiguous"] | Auto = Field(
        AUTO, description="of filters; auto: the faster one in a run longer than five minutes, else channels_last"
    )
    compile: bool | Auto = Field(
        AUTO, description="the network by torch.compile; auto: where that is faster in a run that is long enough to try"
    )
    bucket_megabytes: PositiveFloat | Auto | None = Field(
        AUTO,
        description="between machines or GPUs gradients leave in buckets of this size while others are computed; "
        "null: all at the end; auto: 25 on GPUs, else null, or the other way where a long run finds that faster",
    )


class Config(Section):
    """Everything about one run."""

    workload: str
    recipe: Recipe = Recipe()
    stop: Stop = Stop()
    evaluate: Evaluate = Evaluate()
    checkpoint: Checkpoint = Checkpoint()
    record: Record = Record()
    noise_scale: Noise = Noise()
    cluster: Cluster = Cluster()
    performance: Performance = Performance()
