"""The command line: one file per command, which runs a request and shows the result.

Heavy imports wait until a command runs: `--help` and shell completion load none of them.
"""

from scalewise.cli.app import main

__all__ = ["main"]
