"""What became of a run."""

from enum import StrEnum

from scalewise.errors import ExitCode


class Status(StrEnum):
    """What became of a run."""

    COMPLETE = "COMPLETE"
    INCOMPLETE = "INCOMPLETE"
    INFEASIBLE = "INFEASIBLE"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that leaves a run like this."""
        return {
            Status.COMPLETE: ExitCode.COMPLETE,
            Status.INCOMPLETE: ExitCode.STOPPED,
            Status.INFEASIBLE: ExitCode.DIVERGED,
        }[self]
