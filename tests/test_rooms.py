"""Imports point to the same room or to a room above it, never down."""

import ast
import re
from pathlib import Path

import pytest

import scalewise

# The rooms and files of the package from top to bottom, as docs/architecture.md draws them.
ROOMS = [
    "errors",
    "seeds",
    "words",
    "requests",
    "config",
    "storage",
    "cluster",
    "data",
    "models",
    "workloads",
    "recipe",
    "optim",
    "loop",
    "record",
    "figures",
    "run",
    "bench",
    "compare",
    "analysis",
    "study",
    "plan",
    "report",
    "advise",
    "cli",
    "__main__",
]
SOURCE = Path(scalewise.__file__).parent


def room_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(file: Path) -> list[tuple[int, str]]:
    """Return the line and the room of every import of this package, also of those inside functions."""
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{file}: relative imports hide their room"
            modules = [node.module] if node.module != "scalewise" else [f"scalewise.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        else:
            continue
        found += [(node.lineno, module.split(".")[1]) for module in modules if module.startswith("scalewise.")]
    return [(line, room) for line, room in found if room != "__version__"]


def test_imports_never_point_down() -> None:
    wrong = [
        f"{file.relative_to(SOURCE.parent)}:{line} imports {room}, which is below {room_of(file)}"
        for file in sorted(SOURCE.rglob("*.py"))
        if room_of(file) != "__init__"
        for line, room in imported_rooms(file)
        if ROOMS.index(room) > ROOMS.index(room_of(file))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_room_is_known() -> None:
    assert {room_of(file) for file in SOURCE.rglob("*.py")} - {"__init__"} == set(ROOMS)


def test_only_the_world_reads_launcher_variables() -> None:
    variables = ("WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC", "SLURM_", "OMPI_")
    readers = {
        file.relative_to(SOURCE).as_posix()
        for file in SOURCE.rglob("*.py")
        if any(f'"{variable}' in file.read_text() for variable in variables)
    }
    assert readers == {"cluster/world.py"}


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
    ],
)
def test_one_file_knows_the_name_of_a_result(name: str) -> None:
    words = re.compile(rf"[\"'/]{re.escape(name)}[\"']")
    knows = [file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py") if words.search(file.read_text())]
    assert len(knows) == 1 and knows[0].startswith("record/"), knows


def test_the_step_stays_readable() -> None:
    assert len((SOURCE / "loop" / "step.py").read_text().splitlines()) < 100
