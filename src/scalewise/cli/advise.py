"""`scalewise advise`."""

from scalewise.advise.advise import Adviser
from scalewise.cli.show import show, show_json
from scalewise.cluster.progress_console import progress_console
from scalewise.requests import AdviseRequest


def perform(request: AdviseRequest) -> None:
    """Advise, and show the sentences."""
    found = Adviser(request, progress_console()).advise()
    if request.as_json:
        show_json(found.plain())
        return
    for sentence in found.sentences():
        show(sentence)
    show(f"report: {request.out / 'report.html'}")
