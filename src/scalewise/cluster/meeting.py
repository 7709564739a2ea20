"""A barrier for the workers of one machine: no worker continues before all have reached it.

Each worker has a pipe to the chief and one back. A barrier of the message backend does the same, but its threads need
milliseconds to wake each other up, while a pipe needs microseconds. A pipe also shows at once that its other end is
gone.
"""

import os
import select
import weakref
from pathlib import Path
from typing import Self

from scalewise.cluster.collectives import wait_for_all
from scalewise.cluster.world import World
from scalewise.errors import PeerLost

_TOKEN = b"."


class Meeting:
    """The ends of this worker's pipes."""

    def __init__(self, incoming: list[int], outgoing: list[int], chief: bool, timeout_seconds: float) -> None:
        self._incoming, self._outgoing, self._chief = incoming, outgoing, chief
        self._timeout_milliseconds = 1000 * timeout_seconds
        self._pollers = [_poller(end) for end in incoming]
        weakref.finalize(self, _close, [*incoming, *outgoing])

    @classmethod
    def open(cls, folder: Path, world: World, timeout_seconds: float) -> Self:
        """Open the pipes that `make_pipes` has made; all workers call it together."""
        others = range(1, world.workers) if world.chief else [world.rank]
        incoming_names, outgoing_names = ("up", "down") if world.chief else ("down", "up")
        incoming = [os.open(folder / f"{incoming_names}{other}", os.O_RDONLY | os.O_NONBLOCK) for other in others]
        wait_for_all()  # a pipe can be opened for writing once someone reads it
        outgoing = [os.open(folder / f"{outgoing_names}{other}", os.O_WRONLY) for other in others]
        wait_for_all()
        return cls(incoming, outgoing, world.chief, timeout_seconds)

    def wait_for_all(self) -> None:
        """Return when every worker has got here."""
        if self._chief:
            self._read()
            self._write()
        else:
            self._write()
            self._read()

    def _read(self) -> None:
        for end, poller in zip(self._incoming, self._pollers, strict=True):
            if not poller.poll(self._timeout_milliseconds):
                raise PeerLost(f"a worker has been silent for {self._timeout_milliseconds / 1000:g} seconds")
            if os.read(end, 1) != _TOKEN:
                raise PeerLost("a worker of this machine has ended")

    def _write(self) -> None:
        for end in self._outgoing:
            try:
                os.write(end, _TOKEN)
            except BrokenPipeError:
                raise PeerLost("a worker of this machine has ended") from None


def make_pipes(folder: Path, world: World) -> None:
    """Make a pair of pipes for every worker but the chief; only the chief does."""
    for other in range(1, world.workers):
        os.mkfifo(folder / f"up{other}")
        os.mkfifo(folder / f"down{other}")


def _close(ends: list[int]) -> None:
    for end in ends:
        os.close(end)


def _poller(end: int) -> "select.poll":
    poller = select.poll()
    poller.register(end, select.POLLIN)
    return poller
