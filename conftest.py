"""Examples in docstrings write into a folder of their own, and may leave digits out with `...`."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def examples_have_a_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an example write into its own folder."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
