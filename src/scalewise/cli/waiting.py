"""Decides how the threads of a launched worker wait, which torch reads once, when it is imported."""

import contextlib
from collections.abc import Sequence

from scalewise.errors import UserError


def choose_how_to_wait(workload: str, recipe: str | None, overrides: Sequence[str]) -> None:
    """Decide it before torch is imported; only a launched worker needs this."""
    from scalewise.cluster.world import World, wait_without_spinning
    from scalewise.config import load_config

    world = World.from_environment()
    if world.launched:
        with contextlib.suppress(UserError):  # which is reported when the whole configuration is loaded
            config = load_config(workload, {}, recipe, overrides)
            wait_without_spinning(world, config.cluster, config.recipe.exact)
