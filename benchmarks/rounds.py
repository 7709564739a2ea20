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


def quiet_half(values: list[float], noise: list[float]) -> list[float]:
    """Keep the rounds in which something else, measured in the same rounds, was least disturbed.

    >>> quiet_half([1.7, 1.9, 1.8, 1.6], noise=[0.9, 0.2, 0.3, 0.8])
    [1.9, 1.8]
    """
    quietest = sorted(range(len(noise)), key=noise.__getitem__)[: -(-len(noise) // 2)]
    return [values[index] for index in sorted(quietest)]


def spread(values: list[float]) -> list[float]:
    """Return the lowest and the highest round: how much a median can be trusted."""
    return [min(values), max(values)]
