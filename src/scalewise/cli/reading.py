"""Reads what is written inside one option: lists, choices, amounts."""

from typing import Literal, get_args

from scalewise.errors import ConfigError, nearest
from scalewise.requests import Scaling


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Read whole numbers separated by commas.

    >>> whole_numbers("--workers", "1,2,4")
    (1, 2, 4)
    """
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = (0,)
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise ConfigError(f"{option} {text!r} should be different positive whole numbers, such as 1,2,4")
    return numbers


def microbatches(text: str) -> tuple[int, ...] | Literal["auto"]:
    """Read microbatches: whole numbers, or auto."""
    return "auto" if text == "auto" else whole_numbers("--microbatch", text)


def names(text: str) -> tuple[str, ...]:
    """Read names separated by commas.

    >>> names("T4 1x1, T4 1x2")
    ('T4 1x1', 'T4 1x2')
    """
    return tuple(name.strip() for name in text.split(","))


def scaling(text: str) -> Scaling:
    """Read how the batch goes with the workers."""
    known: tuple[Scaling, ...] = get_args(Scaling)
    for word in known:
        if word == text:
            return word
    raise ConfigError(f"--scaling {text!r} is not one of {', '.join(known)}{nearest(text, known)}")


def check_positive(option: str, value: float | None) -> None:
    """Refuse an amount that is nothing; typer checks whole numbers, but a bound of a fraction it would include."""
    if value is not None and not value > 0:
        raise ConfigError(f"{option} {value:g} must be greater than 0")
