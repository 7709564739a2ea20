"""What Python hears where a command would print a sentence and end."""

import contextlib
from collections.abc import Iterator

from scalewise.errors import ExitCode, Failed, UserError


@contextlib.contextmanager
def raised_here() -> Iterator[None]:
    """Raise the mistake that a process has met where that process was started."""
    try:
        yield
    except Failed as failed:
        if failed.exit_code is ExitCode.MISTAKE and failed.said:
            raise UserError(failed.said) from None
        raise
