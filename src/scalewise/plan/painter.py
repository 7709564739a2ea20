"""Has the pictures of a plan drawn by a process of their own.

Loading matplotlib takes as long as planning; the process does it meanwhile, so that nobody waits for it.
"""

import pickle
import subprocess
import sys
from types import TracebackType
from typing import Any, Self


class Painter:
    """A process that draws one plan."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "scalewise.plan.chart"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        self._process.__exit__(kind, error, where)

    def begin(self, *wanted: Any) -> None:
        """Have drawn what `pictures` of the charts is called with."""
        assert self._process.stdin is not None
        with self._process.stdin as stream:
            pickle.dump(wanted, stream)

    def pictures(self) -> dict[str, bytes]:
        """Wait for the pictures, by the names of their files."""
        assert self._process.stdout is not None
        drawn: dict[str, bytes] = pickle.load(self._process.stdout)
        return drawn
