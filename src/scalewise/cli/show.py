"""Prints the output of a command, and ends the command if nobody can read it."""

import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from scalewise.errors import UserError

if TYPE_CHECKING:
    from scalewise.figures.table import Table

READER_GONE = 128 + signal.SIGPIPE
"""The exit code if the reader of the output has ended, as `head` does: the code that a shell gives for this signal."""


def show(text: str) -> None:
    """Print a line, or several."""
    with to_standard_output():
        print(text, flush=True)


def show_json(content: Any, indent: int | None = 2) -> None:
    """Print values as JSON."""
    show(json.dumps(content, indent=indent))


def show_tables(*tables: "Table") -> None:
    """Print tables."""
    from scalewise.figures.terminal import print_tables

    with to_standard_output():
        print_tables(*tables)


@contextlib.contextmanager
def to_standard_output() -> Iterator[None]:
    """End the command if its output cannot be written: quietly if the reader is gone, else with a sentence."""
    try:
        yield
    except (BrokenPipeError, SystemExit):  # rich raises the second one
        raise typer.Exit(READER_GONE) from None
    except OSError as error:
        raise UserError(f"cannot write to standard output: {error.strerror}") from None


def prepare_streams() -> None:
    """Open standard output and error if they are closed: otherwise the first file that is opened would replace them.

    Names of folders that are not valid text are written with escapes.
    """
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            stream = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it stays open as long as the process
            if stream.fileno() != descriptor:
                os.dup2(stream.fileno(), descriptor)
            setattr(sys, name, stream)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
