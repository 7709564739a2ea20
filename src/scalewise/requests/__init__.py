"""Every command as a value, and as arguments of the command line. It imports nothing heavy: `--help` starts here."""

from scalewise.requests.line import (
    IN_PYTHON,
    Argument,
    Option,
    Request,
    Word,
    arguments,
    by_commas,
    command_line,
    given_in_python,
    words_of,
)
from scalewise.requests.training import (
    AdviseRequest,
    BenchFileRequest,
    BenchRequest,
    CompareRequest,
    NoiseRequest,
    StudyRequest,
    TrainRequest,
)
from scalewise.requests.without_training import (
    AnalyzeRequest,
    DataRequest,
    PlanRequest,
    PredictRequest,
    ReportRequest,
    WorkloadsRequest,
)

KINDS: tuple[type[Request], ...] = (
    TrainRequest,
    CompareRequest,
    BenchRequest,
    BenchFileRequest,
    StudyRequest,
    AnalyzeRequest,
    PredictRequest,
    PlanRequest,
    AdviseRequest,
    NoiseRequest,
    ReportRequest,
    WorkloadsRequest,
    DataRequest,
)
"""All of them, in the order in which the help shows their commands."""

__all__ = [
    "IN_PYTHON",
    "KINDS",
    "AdviseRequest",
    "AnalyzeRequest",
    "Argument",
    "BenchFileRequest",
    "BenchRequest",
    "CompareRequest",
    "DataRequest",
    "NoiseRequest",
    "Option",
    "PlanRequest",
    "PredictRequest",
    "ReportRequest",
    "Request",
    "StudyRequest",
    "TrainRequest",
    "Word",
    "WorkloadsRequest",
    "arguments",
    "by_commas",
    "command_line",
    "given_in_python",
    "words_of",
]
