"""What no import contract can say about the rooms; the contracts themselves are in pyproject.toml."""

import re
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


def test_only_pictures_need_matplotlib() -> None:
    users = {file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py") if "matplotlib." in file.read_text()}
    assert users == {"figures/picture.py", "figures/picture_plane.py", "figures/picture_sheet.py"}


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


def test_the_step_stays_readable() -> None:
    assert len((SOURCE / "loop" / "step.py").read_text().splitlines()) < 100
