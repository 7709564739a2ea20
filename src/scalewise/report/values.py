"""Values out of JSON files that others may have written: what is missing is nothing, what is wrong is told."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalewise.errors import FolderError
from scalewise.record.study_folder import read_json


@dataclass(frozen=True)
class Facts:
    """Keys and values, and the file that they are from."""

    where: str
    content: Mapping[str, Any]

    def number(self, name: str) -> float | None:
        """Return a number; None where there is none, or none that is finite."""
        value = self.content.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "a number")
        return float(value) if math.isfinite(value) else None

    def whole(self, name: str) -> int | None:
        """Return a whole number."""
        value = self.number(name)
        return None if value is None else int(value)

    def needed(self, name: str) -> float:
        """Return a number that must be there."""
        value = self.number(name)
        if value is None:
            raise self._wrong(name, "a number")
        return value

    def text(self, name: str) -> str:
        """Return a value as text, whatever it is."""
        return as_text(self.content.get(name))

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        return [as_text(value) for value in self._list(name)]

    def wholes(self, name: str) -> list[int]:
        """Return a list of whole numbers."""
        return [int(Facts(self.where, {name: value}).needed(name)) for value in self._list(name)]

    def truth(self, name: str) -> bool:
        """Return whether something is so."""
        return self.content.get(name) is True

    def part(self, name: str) -> "Facts":
        """Return the keys below a key; none where it is missing."""
        value = self.content.get(name)
        return self._below(name, {} if value is None else value)

    def each(self, name: str) -> list["Facts"]:
        """Return a list of things with keys."""
        return [self._below(name, value) for value in self._list(name)]

    def shown(self) -> dict[str, str]:
        """Return everything that says something, as text."""
        return shown(self.content)

    def _list(self, name: str) -> list[Any]:
        value = self.content.get(name)
        if not isinstance(value, list | None):
            raise self._wrong(name, "a list")
        return value or []

    def _below(self, name: str, value: Any) -> "Facts":
        if not isinstance(value, Mapping):
            raise self._wrong(name, "keys and values")
        return Facts(self.where, value)

    def _wrong(self, name: str, wanted: str) -> FolderError:
        return FolderError(f"{self.where} is damaged: {name}={self.content.get(name)!r} should be {wanted}")


def read_facts(file: Path) -> Facts:
    """Read a JSON file."""
    return Facts(str(file), read_json(file))


def shown(values: Mapping[str, Any]) -> dict[str, str]:
    """Return everything that says something, as text."""
    texts = {name.replace("_", " "): as_text(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text}


def as_text(value: Any) -> str:
    """Write any value of a JSON file for a reader.

    >>> as_text([1, "a"]), as_text(None), as_text(True), as_text({"a": 1, "b": None})
    ('1, a', '', 'yes', 'a 1')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {as_text(item)}" for name, item in value.items() if item is not None)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
