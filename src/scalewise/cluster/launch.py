"""Starts the workers of this machine, ends them together, and starts them again when one is lost.

Workers find each other through a file in a folder that only their user can enter, not over a network.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from scalewise.cluster.failure_message import failure_message_in
from scalewise.cluster.handover import environment_of_children
from scalewise.cluster.progress_console import standard_error_of_children
from scalewise.cluster.signals import stop_signals_go_to
from scalewise.cluster.world import environment_of_local_worker
from scalewise.config import Config
from scalewise.errors import ExitCode

_POLL_SECONDS = 0.05
_SHUTDOWN_SECONDS = 600.0
"""How long workers may take to save a checkpoint after a stop signal before they are killed."""
_FOLLOW_SECONDS = 3.0
"""How long workers have to notice that another one failed, and to print their messages."""
_END_SECONDS = 30.0
"""How long workers that were asked to end, because another one failed, may take."""


@dataclass(frozen=True)
class Ended:
    """How workers ended together."""

    exit_code: ExitCode | None
    """None: after a stop signal."""
    said: str = ""
    """What the one that failed said."""


def launch_local(arguments: Sequence[str], config: Config, say: Callable[[str], None]) -> Ended:
    """Run `scalewise ARGUMENTS` in every local worker; return how it ended.

    Only a lost worker is worth a restart: a user's mistake, a diverged run and a bug would end the same way again.
    """
    for attempt in range(config.cluster.max_restarts + 1):
        ended = _run_once(arguments, config.cluster.workers)
        if ended.exit_code != ExitCode.PEER_LOST:
            return ended
        if attempt < config.cluster.max_restarts:
            say(f"a worker was lost: restart {attempt + 1} of {config.cluster.max_restarts} from the last checkpoint")
    say("a worker was lost and no restart is left: the same command continues from the last checkpoint")
    return Ended(ExitCode.STOPPED)


def _run_once(arguments: Sequence[str], workers: int) -> Ended:
    group = LocalGroup()
    with tempfile.TemporaryDirectory(prefix="scalewise-") as folder, stop_signals_go_to(group.note_signal):
        try:
            group.start(["-m", "scalewise", *arguments], workers, Path(folder) / "meeting")
            exit_codes = group.wait()
        finally:
            group.kill()  # nobody, unless this failed itself: in a notebook the workers would go on without it
        said = failure_message_in(Path(folder))
    return Ended(None if group.asked_to_stop else _how_it_ended(exit_codes), said)


class LocalGroup:
    """Workers that were started together and end together."""

    def __init__(self) -> None:
        self._workers: list[subprocess.Popen[bytes]] = []
        self._signals: list[int] = []

    @property
    def asked_to_stop(self) -> bool:
        """Whether a signal asked the group to stop."""
        return bool(self._signals)

    def note_signal(self, number: int, frame: FrameType | None) -> None:
        """Remember a signal; `wait` passes it on, because workers may just be starting."""
        self._signals.append(number)

    def start(self, arguments: Sequence[str], workers: int, meeting: Path) -> None:
        """Start the workers, each in a session of its own: Ctrl-C reaches them through us, and once."""
        handed_over = environment_of_children()
        for rank in range(workers):
            environment = {**os.environ, **handed_over, **environment_of_local_worker(rank, workers, meeting)}
            self._workers.append(
                subprocess.Popen(
                    [sys.executable, *arguments],
                    env=environment,
                    start_new_session=True,
                    stderr=standard_error_of_children(),
                )
            )

    def wait(self) -> list[int]:
        """Wait until all workers have ended; return their exit codes.

        After a stop signal they have time to save a checkpoint, unless Ctrl-C comes a second time. After a failure
        they have a moment to notice it by themselves.
        """
        ending, deadline = False, float("inf")
        while running := [worker for worker in self._workers if worker.poll() is None]:
            failed = any(worker.returncode not in (None, 0) for worker in self._workers)
            now = time.monotonic()
            if not ending and self._signals:
                ending, deadline = True, now + _SHUTDOWN_SECONDS
                _send(running, signal.SIGTERM)
            elif not ending and failed and deadline == float("inf"):
                deadline = now + _FOLLOW_SECONDS
            elif not ending and now > deadline:
                ending, deadline = True, now + _END_SECONDS
                _send(running, signal.SIGTERM)
            elif ending and (now > deadline or self._signals.count(signal.SIGINT) > 1):
                _send(running, signal.SIGKILL)
            time.sleep(_POLL_SECONDS)
        return [worker.returncode for worker in self._workers]

    def kill(self) -> None:
        """End whoever is still there."""
        _send([worker for worker in self._workers if worker.poll() is None], signal.SIGKILL)


def _send(workers: Sequence[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for worker in workers:
        worker.send_signal(number)


def _how_it_ended(exit_codes: Sequence[int]) -> ExitCode:
    """Find the one reason among workers that ended together.

    >>> _how_it_ended([0, 0]), _how_it_ended([-9, 75])
    (<ExitCode.COMPLETE: 0>, <ExitCode.PEER_LOST: 75>)
    >>> _how_it_ended([75, 1]), _how_it_ended([3, -15])
    (<ExitCode.BUG: 1>, <ExitCode.DIVERGED: 3>)
    """
    if not any(exit_codes):
        return ExitCode.COMPLETE
    own_reasons = [code for code in exit_codes if code > 0 and code != ExitCode.PEER_LOST]
    if not own_reasons:
        return ExitCode.PEER_LOST
    return ExitCode(own_reasons[0]) if own_reasons[0] in set(ExitCode) else ExitCode.BUG
