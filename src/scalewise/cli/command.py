"""What a file of this room holds: a command that reads a request, and does what it asks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scalewise.errors import ExitCode
from scalewise.requests import Request


@dataclass(frozen=True)
class Command:
    """One command of the command line."""

    name: str
    read: Callable[..., Request]
    """Its parameters are the words that can be typed, its first sentence is the help; it does nothing but read them."""
    perform: Callable[[Any], ExitCode]
    """Does what a request of this command asks, and shows what came of it."""
    examples: tuple[str, ...]

    @property
    def epilog(self) -> str:
        """What stands below the help."""
        return "\n\n".join(["For example:", *self.examples])
