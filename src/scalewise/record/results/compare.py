"""The results of a comparison: one row per recipe, and the request."""

from typing import ClassVar

from scalewise.record.results.file import ResultFile, ResultPart
from scalewise.words import interval, number

BASELINE = "baseline"
"""The name of the row that all others are compared with."""


class Condition(ResultPart):
    """One recipe at one batch: a row of the table and a curve of the chart."""

    name: str
    workload: str = ""
    recipe: str = ""
    global_batch: int


class Summary(ResultPart):
    """A mean over seeds, and the lowest and the highest of them."""

    mean: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        if self.lowest == self.highest:
            return number(self.mean)
        return f"{number(self.mean)} ({interval(number(self.lowest), number(self.highest))})"


class ComparedRecipe(Condition):
    """What became of one condition."""

    final: Summary | None = None
    best: Summary | None = None
    trials: int = 0
    diverged: int = 0
    examples_per_second: float | None = None
    against_baseline: float | None = None
    """How far its mean final value is from the baseline's."""

    @property
    def condition(self) -> Condition:
        """What was compared."""
        return Condition(name=self.name, workload=self.workload, recipe=self.recipe, global_batch=self.global_batch)

    def compared_with(self, baseline: "ComparedRecipe") -> "ComparedRecipe":
        """Return it with its distance to the baseline."""
        if self.name == baseline.name or self.final is None or baseline.final is None:
            return self
        return self.model_copy(update={"against_baseline": self.final.mean - baseline.final.mean})


class CompareAsked(ResultPart):
    """What a reader needs to make the comparison again."""

    recipes: tuple[str, ...] = ()
    global_batch: int | None = None
    baseline_batch: int | None = None
    learning_rate: float | None = None
    overrides: tuple[str, ...] = ()
    workers: int | None = None


class CompareResult(ResultFile):
    """`compare.json`."""

    file_name: ClassVar[str] = "compare.json"
    leaves_out_none: ClassVar[bool] = False

    workload: str = ""
    epochs: float | None = None
    seeds: int = 1
    metric: str = ""
    shown: str = ""
    """What the values are."""
    rows: tuple[ComparedRecipe, ...] = ()
    higher_is_better: bool = False
    """Among the values that are shown."""
    asked: CompareAsked = CompareAsked()
