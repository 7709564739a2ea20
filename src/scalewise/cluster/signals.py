"""Turns SIGTERM, SIGINT and SIGUSR1 into a request to stop, which the loop reads between two steps."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)


class StopRequest:
    """Whether this process was asked to stop."""

    def __init__(self) -> None:
        self._made = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Note the stop signals for the length of a `with` block, instead of being ended by them."""
        with stop_signals_go_to(self._note):
            yield

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._made = True
        if number == signal.SIGINT:  # Ctrl-C a second time means now
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def make(self) -> None:
        """Ask without a signal."""
        self._made = True

    def made(self) -> bool:
        """Say whether this process was asked to stop."""
        return self._made


@contextmanager
def stop_signals_go_to(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Handle the stop signals for the length of a `with` block, then let them be handled as before.

    Only the main thread can do this; in other threads, the owner of the process handles its signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def ignore_stop_signals() -> None:
    """Let no signal interrupt the end of a process: its result is there, and only its exit code is left."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
