"""Turns SIGTERM, SIGINT and SIGUSR1 into a polite request that the loop reads between two steps."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)


class StopRequest:
    """Whether this process was asked to stop."""

    def __init__(self) -> None:
        self._made = False

    def listen(self) -> None:
        """Note the stop signals from now on instead of dying of them."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._note)

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
def handlers_kept() -> Iterator[None]:
    """Put back, after a `with` block, what was done about the stop signals before it."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
