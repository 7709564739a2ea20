"""What became of a run."""

from enum import StrEnum


class Status(StrEnum):
    """What became of a run."""

    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"
    INFEASIBLE = "INFEASIBLE"
