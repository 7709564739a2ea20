"""Result files: numbers together with where they come from."""

import datetime
import importlib.metadata
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scalewise.record import provenance

_FOLDER = Path(__file__).parent / "results"


def write_results(name: str, content: Mapping[str, Any], extra_packages: Iterable[str] = ()) -> None:
    """Write one result file."""
    _FOLDER.mkdir(exist_ok=True)
    text = json.dumps({**_origin(extra_packages), **content}, indent=2)
    _file(name).write_text(f"{text}\n", encoding="utf-8")


def read_results(name: str) -> dict[str, Any] | None:
    """Read one result file, or None where nothing has been measured yet."""
    file = _file(name)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def _file(name: str) -> Path:
    return _FOLDER / f"{name}.json"


def _origin(extra_packages: Iterable[str]) -> dict[str, Any]:
    hardware = provenance.hardware(gpu=None)
    hardware.pop("host")  # readers have no use for it
    return {
        "made_by": " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]),
        "date": datetime.date.today().isoformat(),
        "hardware": hardware,
        "versions": {**provenance.versions(), **{name: importlib.metadata.version(name) for name in extra_packages}},
        "git_commit": provenance.git_commit(),
    }
