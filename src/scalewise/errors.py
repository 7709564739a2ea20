"""Every exception that scalewise raises on purpose, and the exit code that each ends a command with.

ScalewiseError
├── UserError               the user's mistake: one clear sentence, no traceback
│   ├── ConfigError         a key, a value or a combination that is invalid
│   ├── WorkloadError       a workload that does not exist, import or fit
│   ├── DataError           data that is missing or damaged
│   └── FolderError         a run folder that cannot be used
├── Interrupted             a signal or a deadline ended a command before it had its result; what was done is kept
├── Diverged                a run whose result others need has diverged
├── Failed                  a process that a command started has failed, and has said why itself
└── PeerLost                another worker went away in the middle of a collective
"""

import difflib
from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit code of a command means."""

    COMPLETE = 0
    BUG = 1
    MISTAKE = 2
    DIVERGED = 3
    STOPPED = 4
    PEER_LOST = 75  # EX_TEMPFAIL: nothing wrong with this worker, try again


class ScalewiseError(Exception):
    """The root of the tree."""


class UserError(ScalewiseError):
    """The user's mistake; the message is one sentence that says how to fix it."""


class ConfigError(UserError):
    """A key, a value or a combination of values that is invalid."""


class WorkloadError(UserError):
    """A workload that does not exist, does not import or does not fit."""


class DataError(UserError):
    """Data that is missing or damaged."""


class FolderError(UserError):
    """A run folder that cannot be used."""


class Interrupted(ScalewiseError):  # noqa: N818 - nothing went wrong
    """A signal or a deadline ended a command before it had its result; the message says how to continue."""


class Diverged(ScalewiseError):  # noqa: N818 - a result, but not one that others can use
    """A run whose result others need has diverged."""


class Failed(ScalewiseError):  # noqa: N818 - the error is in the process that failed
    """A process that a command started has failed, and has said why itself."""

    def __init__(self, exit_code: ExitCode, said: str = "") -> None:
        super().__init__(said or f"a process ended with exit code {exit_code}")
        self.exit_code = exit_code
        self.said = said
        """What it said, as far as that is known here."""


class PeerLost(ScalewiseError):  # noqa: N818 - a circumstance, not an error of this worker
    """Another worker went away in the middle of a collective."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word, or nothing when none is near.

    >>> nearest("momentun", ["momentum", "sgd"])
    "; did you mean 'momentum'?"
    >>> nearest("xyz", ["momentum", "sgd"])
    ''
    """
    matches = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {matches[0]!r}?" if matches else ""
