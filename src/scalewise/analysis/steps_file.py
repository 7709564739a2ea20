"""The steps file: the steps that trials needed, measured anywhere: `global_batch,steps,reached[,learning_rate]`."""

from pathlib import Path

from scalewise.analysis.outcomes import Outcome, StepsToTarget, steps_to_target
from scalewise.record.plain_table import Row, read_rows


def read_steps(file: Path) -> list[StepsToTarget]:
    """Read a steps file, each of whose rows is a trial."""
    trials: dict[int, list[Outcome]] = {}
    for number, row in enumerate(read_rows(file, ("global_batch", "steps", "reached"))):
        batch_size = int(row.positive("global_batch", whole=True))
        trials.setdefault(batch_size, []).append(_outcome(number, row))
    return [steps_to_target(batch_size, trials[batch_size]) for batch_size in sorted(trials)]


def _outcome(number: int, row: Row) -> Outcome:
    steps, rate = row.positive("steps"), row.positive_or_none("learning_rate")
    parameters = {} if rate is None else {"learning_rate": rate}
    return Outcome(number, steps if row.truth("reached") else None, steps, parameters)
