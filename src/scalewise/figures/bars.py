"""Bars that are divided into parts, independent of how they are drawn."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One whole, cut into the parts of its chart."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Bars:
    """Wholes side by side, each cut into the same parts."""

    title: str
    label: str
    """The quantity and its unit."""
    unit: str
    parts: tuple[str, ...]
    bars: tuple[Bar, ...]
    about: str = ""
