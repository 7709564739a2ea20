"""What no import contract can say about the rooms; the contracts themselves are in pyproject.toml."""

from pathlib import Path

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


def test_the_step_stays_readable() -> None:
    assert len((SOURCE / "loop" / "step.py").read_text().splitlines()) < 100
