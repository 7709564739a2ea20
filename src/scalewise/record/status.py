"""The status of a run."""

from enum import StrEnum


class Status(StrEnum):
    """How a run ended, or that it has not."""

    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"
    INFEASIBLE = "INFEASIBLE"
