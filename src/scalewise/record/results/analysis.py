"""analysis.json: steps to target against batch size, and what follows from them, for every workload of a folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Discriminator, Tag

from scalewise.record.results.file import ResultFile, ResultPart

_OF_ALL = ("skipped", "pictures")


@dataclass(frozen=True)
class BatchSteps:
    """The steps that one batch size needs."""

    batch_size: int
    steps: float | None
    """None: the target was not reached."""
    trial_id: int | None
    low: float | None
    high: float | None
    trials: int
    reached: int
    infeasible: int
    tried_steps: float
    parameters: Mapping[str, Any]
    effective_learning_rate: float | None
    region: str | None


@dataclass(frozen=True)
class CriticalBatchFit:
    """The critical batch size."""

    value: float
    low: float | None
    high: float | None
    s_min: float
    form_fits: bool
    typical_error: float
    exponent: float
    says: str


@dataclass(frozen=True)
class NoCriticalBatchFit:
    """Why there is no critical batch size; in the file it has the same keys as a fit."""

    value: None
    low: float | None
    high: float | None
    s_min: None
    form_fits: bool
    typical_error: float | None
    exponent: float | None
    says: str


def _fit_or_none(found: object) -> str | None:
    """Say which of the two a file has: a fit has a value."""
    value = found.get("value", ...) if isinstance(found, Mapping) else getattr(found, "value", ...)
    if value is ...:
        return None
    return "<no fit>" if value is None else "<fit>"


_FitOrNone = Annotated[
    Annotated[CriticalBatchFit, Tag("<fit>")] | Annotated[NoCriticalBatchFit, Tag("<no fit>")],
    Discriminator(
        _fit_or_none, custom_error_type="no_value", custom_error_message="should have a value, which may be null"
    ),
]


@dataclass(frozen=True)
class Overhead:
    """The batch size whose steps are 20 % above perfect scaling; None: larger than any that was measured."""

    value: float | None
    low: float | None
    high: float | None
    by: str
    """Whether the fit says so, or the measured points and the lines between them."""


@dataclass(frozen=True)
class BudgetBest:
    """The best metric of one batch size within a budget."""

    batch_size: int
    budget: str
    steps: float
    value: float | None
    """None where no trial has a measurement within the budget."""
    trial_id: int | None


class AnalysedWorkload(ResultPart):
    """What one workload with one optimizer shows."""

    workload: str
    target: str | None
    steps_to_target: tuple[BatchSteps, ...]
    not_reached: tuple[BatchSteps, ...]
    critical_batch: _FitOrNone
    overhead_20_percent: Overhead
    best_within_budget: tuple[BudgetBest, ...] = ()


@dataclass(frozen=True)
class SkippedPlace:
    """What could not be read."""

    path: str
    why: str


class AnalysisFile(ResultFile):
    """The whole file; if there is only one workload, its keys are at the top level."""

    file_name: ClassVar = "analysis.json"
    leaves_out_none: ClassVar = False

    workloads: tuple[AnalysedWorkload, ...]
    skipped: tuple[SkippedPlace, ...] = ()
    pictures: tuple[str, ...] = ()

    @classmethod
    def upgraded(cls, content: dict[str, Any], written_as: int) -> dict[str, Any]:
        """Make a list of a single workload."""
        if "workloads" in content:
            return content
        only = {name: value for name, value in content.items() if name not in _OF_ALL}
        return {"workloads": [only], **{name: content[name] for name in _OF_ALL if name in content}}

    def plain(self) -> dict[str, Any]:
        """Write the keys of a single workload without a list around them."""
        content = super().plain()
        if len(self.workloads) != 1:
            return content
        (only,) = content.pop("workloads")
        number = content.pop("format")
        return {"format": number, **only, **content}
