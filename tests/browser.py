"""A real browser for tests: Debian's chromium without a window, spoken to over a pipe in its own DevTools protocol.

The protocol needs no library: a message is JSON that ends with a zero byte.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 30
_END = b"\0"


@contextmanager
def browser() -> Iterator["Browser"]:
    """Start chromium, and end it with everything it started."""
    program = shutil.which("chromium")
    assert program is not None, "there is no chromium here: 'make services' installs it with apt"
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="scalewise-browser-", ignore_cleanup_errors=True) as profile:
        process = _start(program, Path(profile), to_browser[0], from_browser[1])
        started = Browser(to_browser[1], from_browser[0])
        try:
            yield started
            started.call("Browser.close")
            process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()
            process.wait()
            for descriptor in (to_browser[1], from_browser[0]):
                os.close(descriptor)


def _start(program: str, profile: Path, reads: int, writes: int) -> subprocess.Popen[bytes]:
    """Start it with the pipes where it looks for them: as descriptors 3 and 4."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--mute-audio"]
    script = f'exec "$0" "$@" 3<&{reads} 4>&{writes}'
    command = ["bash", "-c", script, program, *options, *quiet, f"--user-data-dir={profile}", "about:blank"]
    with (profile / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, pass_fds=(reads, writes))
    os.close(reads)
    os.close(writes)
    return process


@dataclass
class Browser:
    """Sends calls, and keeps the events that come between the answers."""

    writes: int
    reads: int
    events: list[dict[str, Any]] = field(default_factory=list)
    _calls: int = 0
    _rest: bytes = b""

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Call a method and wait for its answer."""
        self._calls += 1
        message: dict[str, Any] = {"id": self._calls, "method": method, "params": parameters}
        os.write(self.writes, json.dumps(message | ({"sessionId": session} if session else {})).encode() + _END)
        while True:
            answer = self._receive()
            if answer.get("id") == self._calls:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> None:
        """Wait for an event."""
        while not any(event["method"] == method and event.get("sessionId") == session for event in self.events):
            self.events.append(self._receive())

    def open(self, file: Path, width: int, height: int = 800, media: Mapping[str, str] | None = None) -> "Page":
        """Open a file in a page of its own, on a screen of some width."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", session)
        page = Page(self, session)
        page.resize(width, height)
        features = [{"name": name, "value": value} for name, value in (media or {}).items()]
        self.call("Emulation.setEmulatedMedia", session, features=features)
        self.call("Page.navigate", session, url=file.resolve().as_uri())
        self.wait_for("Page.loadEventFired", session)
        return page

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while _END not in self._rest:
            ready, _, _ = select.select([self.reads], [], [], max(0.0, deadline - time.monotonic()))
            content = os.read(self.reads, 1 << 20) if ready else b""
            assert content, "the browser is gone, or says nothing"
            self._rest += content
        first, _, self._rest = self._rest.partition(_END)
        message: dict[str, Any] = json.loads(first)
        return message


@dataclass(frozen=True)
class Page:
    """One page in the browser."""

    browser: Browser
    session: str

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method on this page."""
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression: str) -> Any:
        """Return what an expression in the page is."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def resize(self, width: int, height: int = 800) -> None:
        """Change the size of the screen."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def settle(self) -> None:
        """Wait until the page has been laid out and drawn."""
        frame = "requestAnimationFrame(() => requestAnimationFrame(done))"
        self.evaluate(f"new Promise((done) => {frame}).then(() => true)")

    def hover(self, x: float, y: float) -> None:
        """Move the mouse to a place on the screen."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Press and let go at a place on the screen."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def screenshot(self, file: Path) -> None:
        """Write the whole page as a picture."""
        content = self.call("Page.captureScreenshot", captureBeyondViewport=True, fromSurface=True)["data"]
        file.write_bytes(base64.b64decode(content))

    def pdf(self) -> bytes:
        """Print the page."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])

    def complaints(self) -> list[str]:
        """Return the messages on the console and every error."""
        wanted = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self._events() if event["method"] in wanted]

    def requests(self) -> list[str]:
        """Return everything that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self._events()
            if event["method"] == "Network.requestWillBeSent"
        ]

    def _events(self) -> list[dict[str, Any]]:
        return [event for event in self.browser.events if event.get("sessionId") == self.session]
