"""Draws from a distribution that is known by its density: an ensemble of walkers with stretch moves.

Goodman and Weare 2010, doi:10.2140/camcos.2010.5.65. One half of the walkers moves along lines through the other half.
This needs no tuning, and suits the long thin shapes that a few points leave.
"""

from collections.abc import Callable

import numpy as np

from scalewise.analysis.step_time import Floats


def draw(log_density: Callable[[Floats], Floats], walkers: Floats, moves: int, random: np.random.Generator) -> Floats:
    """Move walkers, a row each, so many times; return where they are then.

    The density takes several places at once and need not be normalised.
    """
    walkers = walkers.copy()
    heights = log_density(walkers)
    for _ in range(moves):
        for half in (slice(0, None, 2), slice(1, None, 2)):
            mine, others = walkers[half], walkers[1 - half.start :: 2]
            stretch = (1 + random.random(len(mine))) ** 2 / 2  # between 1/2 and 2, smaller ones more often
            partners = others[random.integers(len(others), size=len(mine))]
            moved = partners + stretch[:, None] * (mine - partners)
            reached = log_density(moved)
            gain = (walkers.shape[1] - 1) * np.log(stretch) + reached - heights[half]
            accepted = np.log(random.random(len(mine))) < gain
            walkers[half] = np.where(accepted[:, None], moved, mine)
            heights[half] = np.where(accepted, reached, heights[half])
    return walkers
