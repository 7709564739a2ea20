"""What every result that lies in a folder can do."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.api.showing import Shown, Shows

if TYPE_CHECKING:
    from scalewise.figures.figure import Figure
    from scalewise.report.section import ReportSection

_MOST_FIGURES, _MOST_TABLES = 2, 1
"""A notebook shows what matters most; `report` shows everything."""


class FolderResult(Shows):
    """A result in a folder; what it says is what a report on the folder says."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    def _sections(self) -> "list[ReportSection]":
        from scalewise.report.kinds import read_sections

        return read_sections(self.path)

    @property
    def says(self) -> list[str]:
        """What was found, in sentences; the first is the one to remember."""
        return [sentence for section in self._sections()[:1] for sentence in section.answer]

    def _shown(self) -> Shown:
        section = self._sections()[0]
        tables, figures = section.tables[:_MOST_TABLES], section.figures[:_MOST_FIGURES]
        return Shown(f"{section.kind}: {section.title}", section.answer, tables, figures)

    def _figures(self) -> "list[Figure]":
        return [figure for section in self._sections() for figure in section.figures]
