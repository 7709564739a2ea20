"""Recognises what a folder holds, and reads it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scalewise.errors import FolderError
from scalewise.record.folder import RunFolder
from scalewise.record.results.advise import AdviseFile
from scalewise.record.results.bench import BenchFile
from scalewise.record.results.compare import CompareResult
from scalewise.record.results.plan import PlanFile
from scalewise.record.study_folder import OWN
from scalewise.report.benches import bench_sections
from scalewise.report.comparisons import comparison_sections
from scalewise.report.plans import plan_sections
from scalewise.report.runs import run_sections
from scalewise.report.section import ReportSection
from scalewise.report.studies import is_study, study_sections
from scalewise.report.values import shown
from scalewise.words import sentence

_PARTS_OF_ADVICE = ("plan", "study", "bench", "pilot")
"""The subfolders of advice, the most important first."""


@dataclass(frozen=True)
class Kind:
    """One kind of folder: how it is recognised, and what reads it."""

    name: str
    fits: Callable[[Path], bool]
    read: Callable[[Path], list[ReportSection]]


def _advice_sections(folder: Path) -> list[ReportSection]:
    """Read advice and the results that it is based on."""
    advice = AdviseFile.read(folder)
    parts = [folder / name for name in _PARTS_OF_ADVICE if (folder / name).is_dir()]
    known = [(part, kind) for part in parts if (kind := kind_of(part)) is not None]
    own = ReportSection(
        kind="Advice",
        title=advice.workload,
        folder=folder,
        answer=[sentence(text) for text in advice.says] or ["There is no advice yet."],
        asked=shown({"workload": advice.workload, "target": advice.target}),
        methods=[f"It is based on the following results: {', '.join(part.name for part, _ in known)}."]
        if known
        else [],
    )
    return [own, *(section for part, kind in known for section in kind.read(part))]


KINDS = (
    Kind("advice", AdviseFile.is_in, _advice_sections),
    Kind("plan", PlanFile.is_in, plan_sections),
    Kind("bench", BenchFile.is_in, bench_sections),
    Kind("comparison", CompareResult.is_in, comparison_sections),
    Kind("run", lambda folder: RunFolder(folder).begun(), run_sections),
    Kind("study", is_study, study_sections),
)


def kind_of(folder: Path) -> Kind | None:
    """Return what a folder holds; None for anything else."""
    return next((kind for kind in KINDS if kind.fits(folder)), None)


def read_sections(folder: Path) -> list[ReportSection]:
    """Read any folder of results."""
    return known_kind(folder).read(folder)


def report_folder(folder: Path) -> Path:
    """Say where the report of one folder goes; the layout of a study has a separate place for it."""
    return folder / OWN / "report" if known_kind(folder).name == "study" else folder


def known_kind(folder: Path) -> Kind:
    """Return what a folder holds; anything else is refused."""
    if not folder.is_dir():
        raise FolderError(f"{folder} is not a folder" if folder.exists() else f"there is no folder {folder}")
    kind = kind_of(folder)
    if kind is None:
        raise FolderError(
            f"{folder} holds no results: "
            "it is not the folder of a run, a bench, a comparison, a study, a plan or advice"
        )
    return kind
