"""Where progress is printed: standard error, or, in a notebook, its ordinary output.

A notebook shows standard error in red, and claims to be a terminal although it cannot redraw lines.
"""

import subprocess
import sys

from rich.console import Console

_NOTEBOOK_WIDTH = 110


def progress_console() -> Console:
    """Return the console for progress; it is a terminal only if lines can be redrawn in it."""
    if in_notebook():
        return Console(file=sys.stdout, force_terminal=False, force_jupyter=False, width=_NOTEBOOK_WIDTH)
    return Console(stderr=True, force_terminal=None if sys.stderr.isatty() else False)


def standard_error_of_children() -> int | None:
    """Return where child processes write their standard error; None: where this process writes its own."""
    return subprocess.STDOUT if in_notebook() else None


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    return Console(stderr=True).is_jupyter
