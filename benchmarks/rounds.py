"""Measures things in turns, because on a noisy machine only what was measured side by side can be compared."""

from collections.abc import Callable, Mapping

Figures = dict[str, list[float]]
"""One figure per round, by the name of what was measured."""


def take_turns(measures: Mapping[str, Callable[[], float]], rounds: int) -> Figures:
    """Measure everything once per round."""
    figures: Figures = {name: [] for name in measures}
    for round_index in range(rounds):
        # Every other round backwards: a machine that steadily slows down must not favour whoever comes first.
        for name in list(measures)[:: -1 if round_index % 2 else 1]:
            figures[name].append(measures[name]())
    return figures


def ratios(above: list[float], below: list[float]) -> list[float]:
    """Divide round by round.

    >>> ratios([2.0, 9.0], [1.0, 3.0])
    [2.0, 3.0]
    """
    return [first / second for first, second in zip(above, below, strict=True)]


def spread(values: list[float]) -> list[float]:
    """Return the lowest and the highest round: how much a median can be trusted."""
    return [min(values), max(values)]
