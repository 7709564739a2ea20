"""What every test shares."""

import os
from pathlib import Path

import pytest

# Read once, when the process that groups are forked from imports torch: waiting threads must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start processes: `make test-fast` leaves them out."""
    from fast import starts_processes

    for item in items:
        if isinstance(item, pytest.Function) and starts_processes(item):
            item.add_marker("processes")


def pytest_configure(config: pytest.Config) -> None:
    """Where coverage is measured, measure it in every process that a test starts."""
    if config.getoption("cov_source", None):
        tests = Path(__file__).parent
        os.environ["SCALEWISE_TEST_COVERAGE"] = str(tests.parent / "pyproject.toml")
        paths = [str(tests / "tracing"), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
