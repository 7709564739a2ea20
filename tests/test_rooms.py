"""What no import contract can say about the rooms; the contracts themselves are in pyproject.toml."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import scalewise

SOURCE = Path(scalewise.__file__).parent


def test_only_the_world_reads_launcher_variables() -> None:
    variables = ("WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC", "SLURM_", "OMPI_")
    readers = {
        file.relative_to(SOURCE).as_posix()
        for file in SOURCE.rglob("*.py")
        if any(f'"{variable}' in file.read_text() for variable in variables)
    }
    assert readers == {"cluster/world.py"}


def test_one_file_knows_matplotlib() -> None:
    users = [file for file in SOURCE.rglob("*.py") if "from matplotlib" in file.read_text()]
    assert [file.relative_to(SOURCE).as_posix() for file in users] == ["figures/drawing_library.py"]


@pytest.mark.parametrize(
    "name",
    [
        "run.yaml",
        "metadata.json",
        "measurements.csv",
        "numbers.json",
        "manifest.json",
        "compare.json",
        "study.json",
        "ledger.csv",
        "bench.json",
        "plan.json",
        "advise.json",
        "analysis.json",
    ],
)
def test_one_file_knows_the_name_of_a_result(name: str) -> None:
    words = re.compile(rf"[\"'/]{re.escape(name)}[\"']")
    knows = [file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py") if words.search(file.read_text())]
    assert len(knows) == 1 and knows[0].startswith("record/"), knows


def test_a_class_name_means_one_thing() -> None:
    """Results of the Python API are named as users know them: `sw.Plan` is made of a plan inside."""
    places = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            public = file.parent == SOURCE / "api" and getattr(node, "name", "") in scalewise.__all__
            if isinstance(node, ast.ClassDef) and not public:
                places[node.name].add(file.relative_to(SOURCE).as_posix())
    twice = {name: files for name, files in places.items() if len(files) > 1}
    assert not twice


def test_a_module_name_means_one_thing() -> None:
    """A command, its result file and the room that does it may share a name."""
    places = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        room = file.relative_to(SOURCE).parent.as_posix()
        if room not in ("cli", "record/results") and file.stem not in ("__init__", room):
            places[file.stem].add(file.relative_to(SOURCE).as_posix())
    twice = {name: files for name, files in places.items() if len(files) > 1}
    assert not twice


def test_no_test_imports_another() -> None:
    """What tests share is in modules of its own, which say what they are for."""
    importing = re.compile(r"^\s*(from|import) test_", re.MULTILINE)
    assert [file.name for file in Path(__file__).parent.glob("*.py") if importing.search(file.read_text())] == []


def test_the_step_stays_readable() -> None:
    assert len((SOURCE / "loop" / "step.py").read_text().splitlines()) < 100
