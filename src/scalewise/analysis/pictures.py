"""Which charts an analysis has, and the pictures of them that it writes."""

import re
from collections.abc import Sequence
from pathlib import Path

from scalewise.analysis.step_charts import steps_figure, together_figure
from scalewise.analysis.trial_charts import budgets_figure, learning_rate_figure, scatter_figure
from scalewise.analysis.workload_findings import WorkloadFindings
from scalewise.figures.figure import Figure
from scalewise.storage import write_result


def study_figures(workload: WorkloadFindings) -> list[Figure]:
    """Return all charts for which a workload has data."""
    found = (
        steps_figure(workload.curve),
        learning_rate_figure(workload),
        scatter_figure(workload),
        budgets_figure(workload),
    )
    return [figure for figure in found if figure is not None]


def draw_all(out: Path, workloads: Sequence[WorkloadFindings]) -> list[Path]:
    """Draw everything, each of several workloads into its own folder; return the files."""
    figures: list[tuple[Path, Figure]] = []
    for workload in workloads:
        folder = out / re.sub(r"[^\w./-]+", "_", workload.curve.name) if len(workloads) > 1 else out
        figures += [(folder, figure) for figure in study_figures(workload)]
    if len(workloads) > 1 and (together := together_figure([workload.curve for workload in workloads])) is not None:
        figures.append((out, together))
    return [_draw(folder, figure) for folder, figure in figures]


def _draw(folder: Path, figure: Figure) -> Path:
    from scalewise.figures.picture import picture  # loads matplotlib, which an analysis without charts does not need

    file = folder / f"{figure.name}.png"
    write_result(file, picture(figure.chart))
    return file
