"""Reads words by the real command line, and hands over the request instead of doing what it asks."""

import shlex
from collections.abc import Sequence

import typer

from scalewise.cli.app import make_app
from scalewise.requests import Request


def read(words: Sequence[str]) -> Request:
    """Read the words after `scalewise`."""
    app = typer.main.get_command(make_app(lambda request: request))
    request = app.main(list(words), prog_name="scalewise", standalone_mode=False)
    assert isinstance(request, Request)
    return request


def read_line(line: str) -> Request:
    """Read a line as a shell would, whether the command or torchrun starts it."""
    program, *words = shlex.split(line)
    assert program in ("scalewise", "torchrun")
    return read(words if program == "scalewise" else words[words.index("scalewise") + 1 :])
