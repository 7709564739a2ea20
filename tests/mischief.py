"""Lets one worker of the workload `Mischief` do something to itself, once: send itself a signal, or raise an error."""

import json
from pathlib import Path

from processes import NETS

MISCHIEF = f"{NETS}:Mischief"


def mischief(do: str, once: Path, *, count: int, rank: int = 0, during: str = "loss") -> dict[str, str]:
    """Return the environment in which a worker does it while it computes its `count`-th loss or metric.

    The worker creates the file `once` before, so that it does nothing when it is started again.
    """
    plan = {"do": do, "rank": rank, "count": count, "during": during, "once": str(once)}
    return {"SCALEWISE_TEST_MISCHIEF": json.dumps(plan)}
