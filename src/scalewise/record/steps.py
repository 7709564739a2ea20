"""The steps file: the steps that runs needed, measured anywhere.

`global_batch,steps,reached` and, where known, `learning_rate`, `seed`, `accuracy` and `cluster`. A cluster is named
only if the model depends on the cluster, so that the steps hold for that cluster alone.
"""

from dataclasses import dataclass
from pathlib import Path

from scalewise.record.plain_table import Row, read_rows

_REQUIRED = ("global_batch", "steps", "reached")
_OPTIONAL = ("learning_rate", "seed", "accuracy", "cluster")


@dataclass(frozen=True)
class StepsRow:
    """One run."""

    global_batch: int
    steps: float
    """To the target, or, where it was not reached, to the end."""
    reached: bool
    learning_rate: float | None = None
    accuracy: float | None = None
    cluster: str | None = None
    ended: bool = False
    """Whether it is known that it would not have reached the target later: it diverged, or came to its end."""


def read_steps(file: Path) -> list[StepsRow]:
    """Read a steps file; each row is a run."""
    return [_steps_row(row) for row in read_rows(file, _REQUIRED, _OPTIONAL)]


def _steps_row(row: Row) -> StepsRow:
    return StepsRow(
        global_batch=int(row.positive("global_batch", whole=True)),
        steps=row.positive("steps"),
        reached=row.truth("reached"),
        learning_rate=row.positive_or_none("learning_rate"),
        accuracy=row.positive_or_none("accuracy"),
        cluster=row.cells.get("cluster"),
    )
