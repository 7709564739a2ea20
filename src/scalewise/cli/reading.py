"""Makes the function that typer needs to read requests: its parameters are the fields of some kinds of request."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass
from types import GenericAlias
from typing import Any, Literal, Self, get_args, get_origin

import typer

from scalewise.errors import ConfigError, UserError, nearest
from scalewise.requests import Argument, Option, Request, Word, by_commas, words_of


def reader(kinds: Sequence[type[Request]]) -> Callable[..., Request]:
    """Return a function that typer can call: it takes all fields of these kinds and returns a request of one kind."""
    words = {kind: list(words_of(kind)) for kind in kinds}
    shared = set.intersection(*({word.name for word in some} for some in words.values()))
    parameters = {word.name: _parameter(word, word.name in shared) for some in words.values() for word in some}

    def read(**typed: Any) -> Request:
        kind = _meant(words, typed)
        return kind(**{word.name: _value(word, typed[word.name]) for word in words[kind]})

    read.__doc__ = kinds[0].__doc__
    read.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    read.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return read


def _meant(words: dict[type[Request], list[Word]], typed: dict[str, Any]) -> type[Request]:
    """Find the only kind whose required fields were all given; for a single kind, typer has checked that."""
    required = {kind: [word for word in some if word.default is MISSING] for kind, some in words.items()}
    meant = [kind for kind, some in required.items() if all(typed[word.name] is not None for word in some)]
    if len(meant) != 1:
        ways = " or ".join(_shown(some[0].marker) for some in required.values())
        raise UserError(f"{next(iter(words)).command} needs {ways}{', not both' if meant else ''}")
    return meant[0]


def _shown(marker: Argument | Option) -> str:
    return marker.metavar if isinstance(marker, Argument) else f"{marker.name} {marker.metavar}"


@dataclass(frozen=True)
class _Shape:
    """Which values a field takes."""

    one: type
    several: bool
    choices: tuple[str, ...]
    """Words that it takes."""

    @classmethod
    def of(cls, word: Word) -> Self:
        alternatives = (word.type,) if get_origin(word.type) in (None, tuple, Literal) else get_args(word.type)
        choices = tuple(text for one in alternatives if get_origin(one) is Literal for text in get_args(one))
        lists = [get_args(one)[0] for one in alternatives if get_origin(one) is tuple]
        plain = [one for one in alternatives if get_origin(one) is None and one is not type(None)]
        return cls([*lists, *plain, str][0], bool(lists), choices)


def _parameter(word: Word, shared: bool) -> inspect.Parameter:
    """Return the parameter that typer sees; a field that only some kinds have is optional."""
    shape, marker = _Shape.of(word), word.marker
    typed: Any = shape.one
    if shape.choices or (isinstance(marker, Option) and marker.by_commas):
        typed = str
    elif shape.several:
        typed = GenericAlias(list, shape.one)
    default = ... if word.default is MISSING and shared else _default(word)
    return inspect.Parameter(
        word.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=_info(word, shape, default),
        annotation=typed if default is not None else typed | None,
    )


def _default(word: Word) -> Any:
    """Return the default that the help shows and that typer passes on; None: none."""
    if word.default is MISSING or word.default == ():
        return None
    return by_commas(word.default) if isinstance(word.default, tuple) else word.default


def _info(word: Word, shape: _Shape, default: Any) -> Any:
    marker = word.marker
    if isinstance(marker, Argument):
        return typer.Argument(default, metavar=marker.metavar, help=marker.help)
    name = marker.name
    if shape.one is bool and default:
        name += marker.name.replace("--", "/--no-", 1)
    return typer.Option(
        default,
        name,
        metavar=marker.metavar,
        help=marker.help,
        min=marker.least,
        hidden=marker.hidden,
        show_default=default is not None,
    )


def _value(word: Word, typed: Any) -> Any:
    """Turn what typer read into what the request holds."""
    shape, name = _Shape.of(word), _shown(word.marker).split()[0]
    if typed is None or (typed == "" and word.default == ()):
        return word.default
    if isinstance(typed, list):
        return tuple(typed)
    if typed in shape.choices:
        return typed
    if shape.several:
        return _numbers(name, typed) if shape.one is int else tuple(part.strip() for part in typed.split(","))
    if shape.choices:
        raise ConfigError(f"{name} {typed!r} is not one of {', '.join(shape.choices)}{nearest(typed, shape.choices)}")
    return typed


def _numbers(option: str, text: str) -> tuple[int, ...]:
    """Read whole numbers separated by commas.

    >>> _numbers("--workers", "1,2,4")
    (1, 2, 4)
    """
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = (0,)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ConfigError(f"{option} {text!r} should be different positive whole numbers, such as 1,2,4")
    return numbers
