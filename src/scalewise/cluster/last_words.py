"""What a process that failed has to say to the one that started it, which may not see its standard error."""

import os
import traceback
from pathlib import Path

from scalewise.errors import UserError

_BEGINNING = "last_words_"


def leave_last_words(error: Exception, folder: Path) -> None:
    """Leave a mistake as its sentence, and anything else with its traceback."""
    said = str(error) if isinstance(error, UserError) else "".join(traceback.format_exception(error)).rstrip()
    (folder / f"{_BEGINNING}{os.getpid()}").write_text(said, encoding="utf-8", errors="backslashreplace")


def last_words_in(folder: Path) -> str:
    """Return what the first process that failed has left; nothing where none did."""
    files = sorted(folder.glob(f"{_BEGINNING}*"), key=lambda file: file.stat().st_mtime_ns)
    return files[0].read_text(encoding="utf-8") if files else ""
