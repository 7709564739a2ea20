"""Where commands tell how far they are: on standard error, or, in a notebook, beside its other output.

A notebook shows standard error in alarming colours, and tells programs that it is a terminal although lines cannot be
drawn again in it.
"""

import subprocess
import sys

from rich.console import Console

_NOTEBOOK_WIDTH = 110


def console() -> Console:
    """Return the console to tell on; it is a terminal only where lines can be drawn again."""
    if in_notebook():
        return Console(file=sys.stdout, force_terminal=False, force_jupyter=False, width=_NOTEBOOK_WIDTH)
    return Console(stderr=True, force_terminal=None if sys.stderr.isatty() else False)


def standard_error_of_children() -> int | None:
    """Return where processes that are started write their standard error; None: to that of this process."""
    return subprocess.STDOUT if in_notebook() else None


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    return Console(stderr=True).is_jupyter
