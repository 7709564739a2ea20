"""The exit code for each status of a run."""

from scalewise.errors import ExitCode
from scalewise.record.status import Status

EXIT_CODES = {
    Status.COMPLETE: ExitCode.COMPLETE,
    Status.INCOMPLETE: ExitCode.STOPPED,
    Status.INFEASIBLE: ExitCode.DIVERGED,
}
