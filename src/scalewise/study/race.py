"""Decides which trial continues, and how far: pure functions of the progress of all trials of one batch size.

Steps to target are a minimum over trials, and the upper end of their interval is the third smallest value. So a trial
can stop when it can no longer be among the three best, and the answer does not change. Two rules make this cheap and
correct. Trials continue in rounds, each twice as long as the one before, so that no trial trains far before one has
reached the target. And because a trial that diverges does not count, even if it reached the target before, the three
best are trained to the very end: if one of them diverges, the others continue where they were stopped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scalewise.analysis.outcomes import DECIDING_TRIALS

_ROUNDS = 6
"""The first round is a 32nd of the longest training."""

Place = tuple[int, int]
"""A step and a trial: the fewest steps come first, and at equal steps the smaller number."""


@dataclass(frozen=True)
class Progress:
    """How far a trial has got."""

    trial_id: int
    measured: int | None = None
    """The last step that was measured."""
    reached: int | None = None
    """The first measured step past the target."""
    diverged: int | None = None
    """The step at which it diverged."""
    finished: bool = False
    """Whether it was trained to the very end."""

    @property
    def ended(self) -> bool:
        """Whether it cannot continue."""
        return self.finished or self.diverged is not None


@dataclass(frozen=True)
class Course:
    """Where trials of one batch size are measured, and where they end."""

    batch_size: int
    every_examples: int
    max_steps: int

    def next_measured(self, step: int | None) -> int:
        """Return the step of the measurement after one, or of the first.

        >>> course = Course(batch_size=64, every_examples=100, max_steps=5)
        >>> [course.next_measured(step) for step in (None, 0, 2, 4, 5)]
        [0, 2, 4, 5, 5]
        """
        if step is None:
            return 0
        examples = (step * self.batch_size // self.every_examples + 1) * self.every_examples
        return min(-(-examples // self.batch_size), self.max_steps)

    def round_end(self, step: int) -> int:
        """Return how far a trial that has come to a step is trained in the next round.

        >>> course = Course(batch_size=64, every_examples=100, max_steps=320)
        >>> [course.round_end(step) for step in (0, 9, 10, 39, 319, 320)]
        [10, 10, 20, 40, 320, 320]
        """
        ends = (-(-self.max_steps // 2**rounds_left) for rounds_left in reversed(range(_ROUNDS)))
        return next((end for end in ends if end > step), self.max_steps)


@dataclass(frozen=True)
class Task:
    """A trial that should continue, up to a step."""

    trial_id: int
    until: int
    verifies: bool = False
    """Whether it is one of the best and continues to the very end, to check that it does not diverge."""


def bound(trials: Sequence[Progress]) -> Place | None:
    """Return the last of the trials that decide the answer, once there are enough of them."""
    places = ranked(trials)
    return places[DECIDING_TRIALS - 1] if len(places) >= DECIDING_TRIALS else None


def ranked(trials: Sequence[Progress]) -> list[Place]:
    """Return the trials that reached the target, the fastest first."""
    return sorted(
        (trial.reached, trial.trial_id) for trial in trials if trial.reached is not None and trial.diverged is None
    )


def may_decide(trial: Progress, limit: Place | None, course: Course) -> bool:
    """Say whether a trial that continues could still be better than the bound."""
    return limit is None or (course.next_measured(trial.measured), trial.trial_id) < limit


def tasks(trials: Sequence[Progress], course: Course, racing: bool) -> list[Task]:
    """Return every trial that should continue now; none if the answer is known."""
    if not racing:
        return [Task(trial.trial_id, course.max_steps) for trial in trials if not trial.ended]
    limit = bound(trials)
    going = [
        trial for trial in trials if not trial.ended and trial.reached is None and may_decide(trial, limit, course)
    ]
    if not going:
        best = {trial_id for _, trial_id in ranked(trials)[:DECIDING_TRIALS]}
        return [
            Task(trial.trial_id, course.max_steps, verifies=True)
            for trial in trials
            if trial.trial_id in best and not trial.ended
        ]
    if limit is not None:  # which ends them soon enough
        return [Task(trial.trial_id, course.max_steps) for trial in going]
    ends = [course.round_end(trial.measured or 0) for trial in going]
    return [Task(trial.trial_id, end) for trial, end in zip(going, ends, strict=True) if end == min(ends)]


def kept_until(trial: Progress, limit: Place | None, course: Course, racing: bool) -> int | None:
    """Return the last step whose measurement belongs to the study; None: all of them.

    A trial may have been trained further than necessary, because the bound was not known yet. What is kept does not
    depend on that: it is what shows that the trial is not better than the bound.
    """
    if not racing or limit is None or (trial.reached is not None and (trial.reached, trial.trial_id) <= limit):
        return None
    last = -1
    following = course.next_measured(None)
    while (following, trial.trial_id) < limit and following != last:
        last, following = following, course.next_measured(following)
    return last
