"""What an analysis finds."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scalewise.analysis.archive import Skipped
from scalewise.analysis.curve import Curve
from scalewise.analysis.scatter import ScatterPoint


@dataclass(frozen=True)
class BudgetBest:
    """The best metric that one batch size comes to within a budget."""

    batch_size: int
    budget: str
    steps: float
    value: float | None
    """None where no trial has a measurement within the budget."""
    trial_id: int | None

    def content(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Workload:
    """What one workload with one optimizer shows."""

    curve: Curve
    budgets: list[BudgetBest] = field(default_factory=list)
    scatter: dict[int, list[ScatterPoint]] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return it as plain values."""
        budgets = {"best_within_budget": [best.content() for best in self.budgets]} if self.budgets else {}
        return {**self.curve.content(), **budgets}


@dataclass(frozen=True)
class Analysis:
    """What was found."""

    workloads: list[Workload]
    skipped: list[Skipped]
    pictures: list[Path]
    out: Path
    """Where they are."""

    def content(self) -> dict[str, Any]:
        """Return it as plain values: of the only workload, or of a list of them."""
        contents = [workload.content() for workload in self.workloads]
        found = contents[0] if len(contents) == 1 else {"workloads": contents}
        skipped = [{"path": str(item.path), "why": item.why} for item in self.skipped]
        return {**found, "skipped": skipped, "pictures": [str(picture) for picture in self.pictures]}
