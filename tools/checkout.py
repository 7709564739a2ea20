"""Has another revision's files beside the working tree for a while, so that the two can be compared on this machine."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import typer

ROOT = Path(__file__).resolve().parent.parent


@contextlib.contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """Have a folder for the length of a `with` block, also where SIGTERM ends it."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # What was killed may still write for a moment.
    with tempfile.TemporaryDirectory(prefix=f"{name}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@contextlib.contextmanager
def checkout(revision: str | None, code: Path) -> Iterator[Path]:
    """Have a revision's files for the length of a `with` block; None: where this branch began."""
    _git("worktree", "add", "--detach", "--quiet", str(code), revision or _default_base())
    try:
        yield code
    finally:
        _git("worktree", "remove", "--force", str(code))


def described(tree: Path) -> str:
    """Return a short name of the revision that a tree holds."""
    return _git("describe", "--always", "--dirty", "--exclude=*", folder=tree)


def environment_of(tree: Path) -> dict[str, str]:
    """Return an environment in which `import scalewise` finds the code of a tree."""
    paths = [str(tree / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _default_base() -> str:
    with contextlib.suppress(typer.BadParameter):
        return _git("merge-base", "HEAD", "origin/main")
    return "HEAD~1"


def _git(*words: str, folder: Path = ROOT) -> str:
    ended = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True)
    if ended.returncode != 0:
        raise typer.BadParameter(f"git {' '.join(words)}: {ended.stderr.strip()}")
    return ended.stdout.strip()
