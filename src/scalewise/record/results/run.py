"""What is known about a run: its progress, how it ended, and what it was trained with."""

from typing import Any, ClassVar

from pydantic import Field, NonNegativeInt, PositiveInt

from scalewise.loop.stopping import Reason
from scalewise.recipe.schedules import ScheduleFacts
from scalewise.record.results.file import ResultFile, ResultPart
from scalewise.record.status import Status


class Times(ResultPart):
    """Seconds spent so far, over all starts of a run."""

    training_seconds: float = 0.0
    evaluation_seconds: float = 0.0
    checkpoint_seconds: float = 0.0


class RunProgress(Times):
    """What changes during a run."""

    status: Status
    stopped_by: Reason | None = None
    steps: NonNegativeInt
    examples: NonNegativeInt
    examples_per_second: float | None = None
    loss_scale: float | None = None
    """None, as the following, where the precision needs none."""
    skipped_steps: int | None = None
    updated: str | None = None


class PerformanceChoice(ResultPart):
    """How the arithmetic was done."""

    memory_format: str
    compiled: bool
    threads_per_worker: int
    workers: PositiveInt
    bucket_megabytes: float | None = None
    probe_seconds: float = 0.0


class MetricFacts(ResultPart):
    """What a reader must know about a metric to speak of it."""

    name: str
    lower_is_better: bool = True
    unit: str = ""
    complement: str = ""
    """What 1 - value is called, where people would rather read that."""


OF_CLASSIFICATION = (MetricFacts(name="classification_error", complement="accuracy"),)
"""What folders mean that say nothing about their metrics: until version 0.2.0 all that came with targets classified."""


class RunFacts(ResultPart):
    """What is known from the start."""

    workload: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    """The recipe."""
    weights: int | None = None
    train_examples: PositiveInt
    derived: ScheduleFacts | None = None
    target: str | None = None
    metrics: tuple[MetricFacts, ...] = OF_CLASSIFICATION
    """The first is what reports speak of, where no target names another."""
    workers: PositiveInt
    threads_per_worker: int | None = None
    performance: PerformanceChoice | None = None
    device: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    hardware: dict[str, str | int] = Field(default_factory=dict)
    git_commit: str | None = None
    started: str | None = None


class RunMetadata(RunProgress, RunFacts, ResultFile):
    """`metadata.json` of a run folder."""

    file_name: ClassVar[str] = "metadata.json"
    leaves_out_none: ClassVar[bool] = False

    @classmethod
    def of(cls, facts: RunFacts, progress: RunProgress) -> "RunMetadata":
        """Put both halves together."""
        return cls.model_construct(**dict(facts), **dict(progress))

    def plain(self) -> dict[str, Any]:
        """Return what the file holds; without a loss scale nothing is said about one."""
        content = super().plain()
        if self.loss_scale is None:
            del content["loss_scale"], content["skipped_steps"]
        return content
