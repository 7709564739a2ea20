"""Writes a request as the words that the command line reads back into the same request.

The fields of a request say which words they are: `Annotated[Path, Option("--out")]`, `Annotated[str, Argument()]`.
"""

import dataclasses
import shlex
from typing import Any, ClassVar, get_type_hints


@dataclasses.dataclass(frozen=True)
class Argument:
    """A field that has no name on the command line, only a place; a tuple is one word after the other."""


@dataclasses.dataclass(frozen=True)
class Option:
    """A field behind a name; a tuple repeats the name, or has one list behind it."""

    name: str
    by_commas: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """A command as a value."""

    command: ClassVar[str]


def arguments(request: Request) -> list[str]:
    """Return the words that say it; what is as by default is left out.

    Values that look like an option are written so that they are not taken for one.
    """
    options: list[str] = []
    places: list[str] = []
    markers = _markers(type(request))
    for field in dataclasses.fields(request):
        marker, value = markers[field.name], getattr(request, field.name)
        if value == field.default:
            continue
        if isinstance(marker, Argument):
            places += [_text(one) for one in (value if isinstance(value, tuple) else (value,))]
        else:
            options += _option(marker, value)
    if any(place.startswith("-") for place in places):
        return [request.command, *options, "--", *places]
    return [request.command, *places, *options]


def command_line(request: Request) -> str:
    """Return the line to type into a shell."""
    return shlex.join(["scalewise", *arguments(request)])


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
    """Write a value so that it is read back as it is; a float without digits that say nothing.

    >>> _text(20.0), _text(0.1 + 0.2), _text("a b")
    ('20', '0.30000000000000004', 'a b')
    """
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _markers(kind: type[Request]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in dataclasses.fields(kind)}
