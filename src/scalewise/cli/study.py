"""`scalewise study`."""

from scalewise.requests import AnalyzeRequest, StudyRequest
from scalewise.study.study import study


def perform(request: StudyRequest) -> None:
    """Work on a study, then analyze it."""
    study(request)
    from scalewise.cli import analyze  # and Polars, only now

    targets = () if request.target is None else (request.target,)
    analyze.perform(AnalyzeRequest(folder=request.out, targets=targets, as_json=request.as_json))
