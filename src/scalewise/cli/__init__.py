"""The command line: one file per command, which reads a request, and does what it asks and shows what came of it.

Heavy imports wait until a command does something: `--help` and shell completion load none of them.
"""

from scalewise.cli.app import main

__all__ = ["main"]
