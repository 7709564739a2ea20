"""Values of result files as a reader sees them."""

from collections.abc import Mapping
from typing import Any


def shown(values: Mapping[str, Any]) -> dict[str, str]:
    """Return everything that is not empty, as text."""
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
