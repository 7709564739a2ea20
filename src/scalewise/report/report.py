"""The report from its folders to its two files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scalewise.report.kinds import read_sections, report_folder
from scalewise.report.markdown import markdown
from scalewise.report.page import page
from scalewise.report.section import ReportSection
from scalewise.requests import ReportRequest
from scalewise.storage import write_result

_DEFAULT_OUT = Path("runs/report")
PICTURES = "report_figures"


@dataclass(frozen=True)
class Report:
    """What was written."""

    html: Path
    markdown: Path
    pictures: list[Path]
    sections: list[ReportSection]

    def content(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "html": str(self.html),
            "markdown": str(self.markdown),
            "pictures": [str(picture) for picture in self.pictures],
            "sections": [
                {"kind": one.kind, "title": one.title, "folder": str(one.folder), "answer": list(one.answer)}
                for one in self.sections
            ],
        }


def report(request: ReportRequest) -> Report:
    """Read every folder, and only then write."""
    sections = [section for folder in request.folders for section in read_sections(folder)]
    out = request.out or _own_folder(request.folders)
    pictures = _write_pictures(out, sections)
    written = Report(out / "report.html", out / "report.md", pictures, sections)
    write_result(written.html, page(sections).encode(errors="backslashreplace"))
    write_result(written.markdown, markdown(sections, PICTURES).encode(errors="backslashreplace"))
    return written


def _own_folder(folders: Sequence[Path]) -> Path:
    return report_folder(folders[0]) if len(folders) == 1 else _DEFAULT_OUT


def _write_pictures(out: Path, sections: Sequence[ReportSection]) -> list[Path]:
    from scalewise.figures.picture import picture  # loads matplotlib, which a report without charts does not need

    pictures = []
    for number, section in enumerate(sections, start=1):
        for figure in section.figures:
            file = out / PICTURES / f"{number}_{figure.name}.png"
            write_result(file, picture(figure.chart))
            pictures.append(file)
    return pictures
