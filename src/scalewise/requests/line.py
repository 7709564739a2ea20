"""Writes a request as the arguments that the command line reads back into the same request.

The fields of a request define them: `Annotated[Path, Option("--out", "FOLDER", "Where results go.")]`.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

IN_PYTHON = "python:"
"""How the name of a workload that was given in Python begins."""


@dataclass(frozen=True)
class Argument:
    """A positional field; a tuple takes several arguments."""

    metavar: str
    help: str


@dataclass(frozen=True)
class Option:
    """A field with a name; a tuple repeats the name, or is one list after it."""

    name: str
    metavar: str = ""
    """How the help shows its value; a flag has none."""
    help: str = ""
    by_commas: bool = False
    least: int | None = None
    hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class Request:
    """A command as a value; the docstring of a kind is the help of its command."""

    command: ClassVar[str]
    examples: ClassVar[tuple[str, ...]]


@dataclass(frozen=True)
class Word:
    """A field of a request, as the command line has it."""

    name: str
    type: Any
    marker: Argument | Option
    default: Any
    """`dataclasses.MISSING` where it must be given."""


def words_of(kind: type[Request]) -> Iterator[Word]:
    """List the fields of a kind of request."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        hint = hints[field.name]
        yield Word(field.name, hint.__origin__, hint.__metadata__[0], field.default)


def arguments(request: Request) -> list[str]:
    """Return its arguments, without those that have their default.

    Values that look like an option are written so that they are not read as one.
    """
    options: list[str] = []
    places: list[str] = []
    for word in words_of(type(request)):
        value = getattr(request, word.name)
        if value == word.default:
            continue
        if isinstance(word.marker, Argument):
            places += [_text(one) for one in (value if isinstance(value, tuple) else (value,))]
        else:
            options += _option(word.marker, value)
    if any(place.startswith("-") for place in places):
        return [request.command, *options, "--", *places]
    return [request.command, *places, *options]


def command_line(request: Request) -> str:
    """Return the line to type into a shell; where only Python has the workload, the call to write there."""
    if given_in_python(getattr(request, "workload", "")):
        return python_call(request)
    return shlex.join(["scalewise", *arguments(request)])


def given_in_python(workload: str) -> bool:
    """Say whether a workload is an object of a class that no file has, such as `python:Spirals`."""
    return workload.startswith(IN_PYTHON)


def python_call(request: Request) -> str:
    """Return the call that asks for the same: its keywords are the names of the options."""
    made, keywords = "", []
    for word in words_of(type(request)):
        value = getattr(request, word.name)
        if isinstance(word.marker, Argument):
            made = f"{value.removeprefix(IN_PYTHON)}()"
        elif value != word.default:
            plain = list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
            keywords.append(f"{_keyword(word.marker)}={plain!r}")
    return f"scalewise.{request.command}({', '.join([made, *keywords])})"


def _keyword(option: Option) -> str:
    """Return what Python calls an option.

    >>> _keyword(Option("--batch-sizes")), _keyword(Option("--set"))
    ('batch_sizes', 'settings')
    """
    return {"--set": "settings"}.get(option.name, option.name.removeprefix("--").replace("-", "_"))


def by_commas(values: tuple[object, ...]) -> str:
    """Write a list.

    >>> by_commas((1, 2, 4))
    '1,2,4'
    """
    return ",".join(map(_text, values))


def _option(option: Option, value: object) -> list[str]:
    if isinstance(value, bool):
        return [option.name if value else option.name.replace("--", "--no-", 1)]
    if isinstance(value, tuple) and not option.by_commas:
        return [word for one in value for word in _named(option.name, _text(one))]
    return _named(option.name, by_commas(value) if isinstance(value, tuple) else _text(value))


def _named(name: str, text: str) -> list[str]:
    return [f"{name}={text}"] if text.startswith("-") else [name, text]


def _text(value: object) -> str:
    """Write a value so that it is read back unchanged; a whole float is written without a point.

    >>> _text(20.0), _text(0.1 + 0.2), _text("a b")
    ('20', '0.30000000000000004', 'a b')
    """
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)
