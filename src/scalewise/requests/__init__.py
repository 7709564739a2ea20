"""Every command as a value, and as the words of the command line. It imports nothing heavy: `--help` starts here."""

from scalewise.requests.kinds import (
    AdviseRequest,
    AnalyzeRequest,
    BenchFileRequest,
    BenchRequest,
    CompareRequest,
    DataRequest,
    NoiseRequest,
    PlanRequest,
    PredictRequest,
    ReportRequest,
    Scaling,
    StudyRequest,
    TrainRequest,
    WorkloadsRequest,
)
from scalewise.requests.line import Request, arguments, by_commas, command_line

__all__ = [
    "AdviseRequest",
    "AnalyzeRequest",
    "BenchFileRequest",
    "BenchRequest",
    "CompareRequest",
    "DataRequest",
    "NoiseRequest",
    "PlanRequest",
    "PredictRequest",
    "ReportRequest",
    "Request",
    "Scaling",
    "StudyRequest",
    "TrainRequest",
    "WorkloadsRequest",
    "arguments",
    "by_commas",
    "command_line",
]
