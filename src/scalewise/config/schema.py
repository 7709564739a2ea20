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

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


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
    momentum: Fraction = Field(0.9, description="momentum coefficient; beta1 of adamw and lamb; not used by sgd")
    second_moment: Fraction | Auto | None = Field(
        AUTO, description="decay of the average squared gradient: beta2 of adamw and lamb (auto: 0.999), rmsprop (0.99)"
    )
    epsilon: PositiveFloat | Auto | None = Field(
        AUTO, description="added to the root of the average squared gradient; auto: 1e-8, for lamb 1e-6"
    )
    lars_coefficient: Annotated[float, Field(gt=0, le=1)] = Field(
        0.001, description="size of the lars update of a layer, relative to its weights"
    )
    weight_decay: NonNegativeFloat = Field(0.0, description="penalty on matrices and filters; decoupled in adamw, lamb")
    clip_norm: PositiveFloat | None = Field(
        None, description="largest gradient norm, over all weights; null: no clipping"
    )
    combine: Literal["mean", "adasum"] = Field("mean", description="how the gradients of microbatches are combined")

    scaling: Literal["none", "linear", "square_root"] = Field(
        "none", description="how the rate is scaled from `reference_batch` to `global_batch`"
    )
    reference_batch: PositiveInt = Field(
        256, description="the batch that learning_rate is for; by default that of the workload's own recipe"
    )
    warmup: Literal["none", "stepping", "gradual"] = Field("none", description="how the rate rises to its full value")
    warmup_length: DurationField = Field(Duration(5, Unit.EPOCHS), description="how long the warmup takes")
    warmup_start_factor: Annotated[float, Field(ge=0, le=1)] | Auto | None = Field(
        AUTO, description="where gradual begins; auto: at the unscaled rate or, without scaling, a microbatch's share"
    )
    schedule: Literal["constant", "steps", "exponential", "polynomial", "linear", "cosine", "one_cycle"] | Auto = Field(
        AUTO,
        description="how the rate changes after the warmup; auto: linear with learning_rate_decay_steps, else constant",
    )
    schedule_length: DurationField | Literal["run"] | Auto | None = Field(
        AUTO, description="when the schedule ends, counted from the start; auto: run, when the run ends"
    )
    learning_rate_decay_steps: PositiveInt | None = Field(None, description="schedule_length in steps")
    end_learning_rate_factor: Annotated[float, Field(ge=0, le=1)] | Auto | None = Field(
        AUTO,
        description="share of the rate at the end; auto: linear 0.01, exponential 0.1, one_cycle 0.0001, else 0",
    )
    polynomial_power: PositiveFloat = Field(2.0, description="power of the polynomial schedule")
    drop_at: tuple[DurationField, ...] = Field(
        tuple(Duration(epochs, Unit.EPOCHS) for epochs in (30, 60, 80)),
        description="when the schedule `steps` drops the rate",
    )
    drop_factor: Annotated[float, Field(gt=0, lt=1)] = Field(0.1, description="factor of the rate at each drop")
    cycle_start_factor: Annotated[float, Field(gt=0, le=1)] = Field(
        0.04, description="where one_cycle begins, as a share of the full rate"
    )
    cycle_peak: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.3, description="share of one_cycle in which the rate rises"
    )
    cycle_momentum: Fraction = Field(0.85, description="momentum at the peak of one_cycle; `momentum` at both ends")

    ghost_batch: Annotated[int, Field(ge=2)] | None = Field(
        None, description="examples that batch normalisation sees together; null: a microbatch"
    )
    average_half_life: DurationField | None = Field(
        None, description="half-life of the running average of the weights; null: no averaging"
    )
    precision: Literal["fp32", "bf16", "fp16"] = Field(
        "fp32", description="precision of the network's computation; weights stay fp32"
    )
    loss_scale: PositiveFloat | Literal["dynamic"] | Auto | None = Field(
        AUTO, description="factor of the loss with fp16: a number or dynamic; auto: dynamic"
    )
    label_smoothing: Fraction = Field(0.0, description="share of each label spread over all classes")
    zero_init_residual: bool = Field(False, description="initialise residual branches so that they add nothing")
    augmentation: Literal["none", "flip_and_crop"] = Field("none", description="random changes of training images")
    image_sizes: tuple[tuple[DurationField, Annotated[int, Field(ge=4)]], ...] = Field(
        (), description="sizes that training images are scaled to, each with its start, e.g. [[0 epochs, 16]]"
    )


class Stop(Section):
    """When training ends: at whichever comes first."""

    target: TargetField | None = Field(
        None, description="stop when a metric is past a value, e.g. val/classification_error<0.05"
    )
    loss: LossTargetField | None = Field(
        None, description="stop when the mean training loss over `loss_window` is past a value, e.g. train_loss<5.0"
    )
    loss_window: DurationField = Field(
        Duration(100, Unit.STEPS), description="how much training `loss` is a mean over; no run ends before it is full"
    )
    steps: PositiveInt | None = Field(None, description="stop after this many steps")
    epochs: PositiveFloat | None = Field(None, description="stop after this many passes over the training examples")
    seconds: PositiveFloat | None = Field(None, description="stop after this many seconds of training")


class Evaluate(Section):
    """When and on what the metrics are measured; always at step 0 and at the end."""

    every_steps: PositiveInt | None = Field(None, description="measure every N steps")
    every_examples: PositiveInt | Literal["epoch"] | Auto | None = Field(
        AUTO, description="measure every N examples; auto: epoch, unless every_steps is given"
    )
    train_examples: PositiveInt | Literal["as_val"] | Auto = Field(
        AUTO, description="how many training examples are measured; auto: as_val, as many as val has"
    )
    batch: PositiveInt = Field(256, description="examples evaluated together")


class Checkpoint(Section):
    """When the state of a run is saved."""

    every_steps: PositiveInt | None = Field(None, description="save every N steps")
    every_seconds: PositiveFloat | Auto | None = Field(AUTO, description="save every N seconds; auto: every minute")
    share_of_time: Fraction | Auto | None = Field(
        AUTO,
        description="save less often if it takes more than this share; auto: 0.01, or null if an interval is given",
    )
    keep: PositiveInt = Field(3, description="how many checkpoints are kept")


class Noise(Section):
    """The gradient noise scale, from the microbatches of a step."""

    every_steps: PositiveInt | None = Field(None, description="measure it every N steps; null: never")


class Record(Section):
    """What a run writes beyond its folder's standard files."""

    tensorboard: bool = Field(False, description="also write TensorBoard event files")


class Cluster(Section):
    """What decides only how long training takes."""

    workers: PositiveInt = Field(1, description="training processes")
    threads_per_worker: PositiveInt | Auto = Field(
        AUTO, description="auto: an equal share of this machine's cores, or 1 if faster; always 1 with exact"
    )
    readers: NonNegativeInt | Auto = Field(
        AUTO, description="processes per worker that read ahead data that is not in memory; auto: one per core"
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="auto: cuda if there is a GPU for each worker, else cpu"
    )
    wire: Literal["fp32", "bf16", "fp16"] = Field(
        "fp32", description="type of gradients in messages; below fp32, models of different numbers of workers differ"
    )
    max_restarts: NonNegativeInt = Field(3, description="how often a group that lost a worker is restarted")
    timeout_seconds: PositiveFloat = Field(300.0, description="how long a worker waits for a silent one")


class Performance(Section):
    """How the same arithmetic is done: it changes the time and, in the model, only rounding."""

    memory_format: Literal["channels_last", "contiguous"] | Auto = Field(
        AUTO, description="memory format of filters; auto: the faster one in runs over five minutes, else channels_last"
    )
    compile: bool | Auto = Field(
        AUTO, description="compile the network with torch.compile; auto: if that is faster, in runs long enough to try"
    )
    bucket_megabytes: PositiveFloat | Auto | None = Field(
        AUTO,
        description="between machines or GPUs, gradients are sent in buckets of this size while others are computed; "
        "null: all at the end; auto: 25 on GPUs, else null, or the other if a long run finds it faster",
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
