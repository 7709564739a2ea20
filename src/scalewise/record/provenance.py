"""Says where a result comes from: versions, hardware, code."""

import datetime
import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from scalewise import __version__
from scalewise.cluster.world import usable_cores


def versions() -> dict[str, str]:
    """Return the versions that can change a result."""
    packages = {name: importlib.metadata.version(name) for name in ("torch", "numpy")}
    return {"scalewise": __version__, "python": platform.python_version(), **packages}


def now() -> str:
    """Return the time of day, with its zone."""
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def hardware(gpu: str | None) -> dict[str, str | int]:
    """Describe this machine, with the GPU that was used, if any."""
    described: dict[str, str | int] = {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": usable_cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
    }
    return described if gpu is None else {**described, "gpu": gpu}


def _processor() -> str:
    """Return the processor's name: Python's own answer is empty on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


@functools.cache
def git_commit() -> str | None:
    """Return the commit of the working folder, marked when there are uncommitted changes, or None outside git."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
