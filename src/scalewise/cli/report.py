"""`scalewise report`."""

from scalewise.cli.show import show, show_json
from scalewise.report.report import report
from scalewise.requests import ReportRequest


def perform(request: ReportRequest) -> None:
    """Write a report, and say where."""
    written = report(request)
    if request.as_json:
        show_json(written.content())
    else:
        show(f"{written.html}\n{written.markdown}")
