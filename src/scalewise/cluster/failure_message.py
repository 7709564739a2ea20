"""Passes the message of a failed process to the process that started it, which may not see its standard error."""

import os
import traceback
from pathlib import Path

from scalewise.errors import UserError

_PREFIX = "failure_"


def leave_failure_message(error: Exception, folder: Path) -> None:
    """Write why this process failed: a user's mistake as one sentence, anything else with its traceback."""
    message = str(error) if isinstance(error, UserError) else "".join(traceback.format_exception(error)).rstrip()
    (folder / f"{_PREFIX}{os.getpid()}").write_text(message, encoding="utf-8", errors="backslashreplace")


def failure_message_in(folder: Path) -> str:
    """Return the message of the first process that failed; empty if none left one."""
    files = sorted(folder.glob(f"{_PREFIX}*"), key=lambda file: file.stat().st_mtime_ns)
    return files[0].read_text(encoding="utf-8") if files else ""
