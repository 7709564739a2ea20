"""Says in one sentence where the time of a step goes, and what to change."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from statistics import median

from scalewise.record.results.bench import Phase
from scalewise.words import percent

_MUCH = 0.2
"""The share of a step from which on a phase that is not computing is worth a change."""


class Verdict(StrEnum):
    """What limits the speed of training."""

    COMPUTE = "compute-bound"
    SYNCHRONISATION = "synchronisation-bound"
    INPUT = "input-bound"
    STRAGGLER = "straggler"


_ADVICE = {
    Verdict.COMPUTE: "more workers make it faster",
    Verdict.SYNCHRONISATION: "use a larger microbatch per worker, fewer workers, a faster network or cluster.wire=bf16",
    Verdict.INPUT: "keep the data in memory, or prepare it with more processes",
    Verdict.STRAGGLER: "check what else runs there, or train without it",
}


def verdict(phases: Sequence[Mapping[Phase, float]]) -> tuple[Verdict, str]:
    """Judge the seconds per step of all workers."""
    whole = sum(phases[0].values())
    busy = [worker[Phase.DATA] + worker[Phase.COMPUTE] for worker in phases]
    slowest = max(range(len(phases)), key=busy.__getitem__)
    data = phases[slowest][Phase.DATA] / whole
    synchronisation = median(worker[Phase.SYNCHRONISATION] for worker in phases) / whole
    waiting = median(
        worker[Phase.WAITING] for index, worker in enumerate(phases) if index != slowest or len(phases) == 1
    )
    computing = median(worker[Phase.COMPUTE] for worker in phases) / whole
    if data > _MUCH:
        found, reason = Verdict.INPUT, f"getting examples takes {percent(data)} of a step"
    elif waiting / whole > _MUCH:
        found, reason = Verdict.STRAGGLER, f"the others wait {percent(waiting / whole)} of a step for worker {slowest}"
    elif synchronisation > _MUCH:
        found, reason = Verdict.SYNCHRONISATION, f"adding up the gradients takes {percent(synchronisation)} of a step"
    else:
        found, reason = Verdict.COMPUTE, f"forward and backward take {percent(computing)} of a step"
    return found, f"{found}: {reason}; {_ADVICE[found]}"
