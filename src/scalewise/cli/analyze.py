"""`scalewise analyze`."""

from scalewise.analysis.analyze import analyze
from scalewise.analysis.curve_tables import budget_table, curve_table
from scalewise.analysis.workload_findings import Analysis
from scalewise.cli.show import show, show_json, show_tables
from scalewise.requests import AnalyzeRequest

_NAMED = 3
"""How many things that could not be read are named."""


def perform(request: AnalyzeRequest) -> None:
    """Analyze, and show steps to target and the critical batch size."""
    analysis = analyze(request)
    if request.as_json:
        show_json(analysis.file.plain())
    else:
        _show(analysis)


def _show(analysis: Analysis) -> None:
    for found in analysis.workloads:
        show_tables(curve_table(found.curve))
        show(found.curve.fit.says)
        if found.budgets:
            show_tables(budget_table(found.budgets))
    if analysis.skipped:
        named = ", ".join(str(item.path) for item in analysis.skipped[:_NAMED])
        more = ", ..." if len(analysis.skipped) > _NAMED else ""
        show(f"{len(analysis.skipped)} could not be read and were left out: {named}{more}")
    show(f"pictures and results in {analysis.out}")
