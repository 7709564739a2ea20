"""What an analysis finds."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scalewise.analysis.archive import Skipped
from scalewise.analysis.curve import StepsCurve
from scalewise.analysis.scatter import ScatterPoint
from scalewise.record.results.analysis import AnalysisFile, BudgetBest, SkippedPlace


@dataclass(frozen=True)
class WorkloadFindings:
    """What one workload with one optimizer shows."""

    curve: StepsCurve
    budgets: list[BudgetBest] = field(default_factory=list)
    scatter: dict[int, list[ScatterPoint]] = field(default_factory=dict)


@dataclass(frozen=True)
class Analysis:
    """What was found."""

    workloads: list[WorkloadFindings]
    skipped: list[Skipped]
    pictures: list[Path]
    out: Path
    """The folder of the pictures and results."""

    @cached_property
    def file(self) -> AnalysisFile:
        """The value that is written and printed."""
        return AnalysisFile(
            workloads=tuple(workload.curve.analysed(workload.budgets) for workload in self.workloads),
            skipped=tuple(SkippedPlace(str(item.path), item.why) for item in self.skipped),
            pictures=tuple(map(str, self.pictures)),
        )
