"""Makes a folder with timm in it, for processes that put it on their PYTHONPATH; where it cannot be, a stand-in.

Most of timm needs torchvision, whose wheel is made for a torch with CUDA. Its compiled half does not load beside a
torch for CPUs, and the file that describes that half to torch ends the import: so it is emptied.
"""

import contextlib
import hashlib
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from processes import ROOT

STAND_IN = ROOT / "tests" / "stand_ins"
_WITH_WHAT_THEY_NEED = ("huggingface_hub==2.4.0", "safetensors==0.8.0")
_ALONE = ("timm==1.0.31", "torchvision==0.28.0")
_IMPATIENT = ("--retries", "1", "--timeout", "15")


@pytest.fixture(scope="session")
def timm_folder() -> Path:
    """Install timm once; later sessions find it."""
    versions = hashlib.sha256(repr((_WITH_WHAT_THEY_NEED, _ALONE, sys.version)).encode()).hexdigest()[:10]
    folder = ROOT / "build" / f"timm-{versions}"
    if folder.exists():
        return folder
    try:
        _install(folder)
    except subprocess.CalledProcessError as error:
        reason = next((line for line in error.stderr.splitlines() if line.startswith("ERROR")), error)
        warnings.warn(f"timm cannot be installed, so small networks of the same shape stand in: {reason}", stacklevel=1)
        return STAND_IN
    return folder


def _install(folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as unfinished:
        packages = Path(unfinished) / "packages"
        _pip(packages, *_WITH_WHAT_THEY_NEED, "--constraint", ROOT / "constraints.txt")
        _pip(packages, *_ALONE, "--no-deps")
        (packages / "torchvision" / "_meta_registrations.py").write_text("")
        with contextlib.suppress(OSError):  # another session was faster
            packages.rename(folder)


def _pip(folder: Path, *arguments: object) -> None:
    options = ("--quiet", "--disable-pip-version-check", "--target", folder, *_IMPATIENT)
    command = [sys.executable, "-m", "pip", "install", *options, *arguments]
    subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
