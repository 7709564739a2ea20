"""The requests of the commands that read results or data: each field with its option, its help and its default."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from scalewise.requests.line import Argument, Option, Request
from scalewise.requests.options import (
    CLUSTERS_HELP,
    AsJson,
    Out,
    Steps,
    TargetText,
)


@dataclass(frozen=True, kw_only=True)
class AnalyzeRequest(Request):
    """Find steps to target against batch size, and the critical batch size."""

    command: ClassVar = "analyze"
    examples: ClassVar = ("scalewise analyze runs/study", "scalewise analyze --steps steps.csv --json")

    folder: Annotated[Path | None, Argument("FOLDER", "Folder of studies, from scalewise or in the public layout.")] = (
        None
    )
    steps_file: Steps = None
    targets: Annotated[
        tuple[str, ...],
        Option(
            "--target",
            "TARGET",
            "Such as 'val/classification_error<0.12'. By default the study's own. Repeat it to analyze several.",
        ),
    ] = ()
    step_budget: Annotated[
        int | None, Option("--step-budget", "N", "Also find the best metric within so many steps.", least=1)
    ] = None
    epoch_budget: Annotated[
        float | None, Option("--epoch-budget", "X", "Also find the best metric within so many epochs.")
    ] = None
    out: Annotated[
        Path | None, Option("--out", "FOLDER", "Folder of the results. By default inside the folder of studies.")
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class PredictRequest(Request):
    """Predict seconds per step for numbers of workers that were not measured."""

    command: ClassVar = "predict"
    examples: ClassVar = (
        "scalewise predict throughput.csv --workers 16,32,64",
        "scalewise predict throughput.csv --up-to 8",
    )

    throughput: Annotated[Path, Argument("FILE", "A throughput.csv, from a bench or from another source.")]
    workers: Annotated[
        tuple[int, ...],
        Option(
            "--workers",
            "N,N,...",
            "Numbers of workers to predict, separated by commas. By default only the fit is shown.",
            by_commas=True,
        ),
    ] = ()
    up_to: Annotated[
        int | None,
        Option(
            "--up-to",
            "N",
            "Fit only points with at most so many workers, and compare predictions with the others.",
            least=1,
        ),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class PlanRequest(Request):
    """Find the fastest and the cheapest cluster, and the best choices between them."""

    command: ClassVar = "plan"
    examples: ClassVar = (
        "scalewise plan --study runs/study --bench runs/bench --clusters clusters.yaml",
        "scalewise plan --steps steps.csv --throughput throughput.csv --clusters clusters.yaml --deadline 12",
    )

    clusters: Annotated[Path, Option("--clusters", "FILE", CLUSTERS_HELP)]
    study: Annotated[Path | None, Option("--study", "FOLDER", "Folder of a study, which has the steps.")] = None
    steps: Steps = None
    bench: Annotated[Path | None, Option("--bench", "FOLDER", "Folder of a bench, which has the seconds per step.")] = (
        None
    )
    throughput: Annotated[
        Path | None, Option("--throughput", "FILE", "A throughput.csv from another source, instead of a bench.")
    ] = None
    target: TargetText = None
    deadline_hours: Annotated[float | None, Option("--deadline", "HOURS", "How long training may take.")] = None
    budget: Annotated[float | None, Option("--budget", "MONEY", "How much training may cost.")] = None
    reliability: Annotated[
        float, Option("--reliability", "SHARE", "Share of the runs that must reach the target, from 0 to 1.")
    ] = 0.0
    only: Annotated[
        tuple[str, ...],
        Option(
            "--only", "A,B,...", "Plan only for the clusters with these names, separated by commas.", by_commas=True
        ),
    ] = ()
    out: Out = Path("runs/plan")
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """Write an HTML page and a Markdown file about any results: the answer, charts, tables, how to repeat them."""

    command: ClassVar = "report"
    examples: ClassVar = (
        "scalewise report runs/study",
        "scalewise report runs/bench runs/study runs/plan --out runs/report",
    )

    folders: Annotated[
        tuple[Path, ...], Argument("FOLDER", "Folders of runs, benches, comparisons, studies, plans or advice.")
    ]
    out: Annotated[
        Path | None, Option("--out", "FOLDER", "Folder of the report. By default the folder that it is about.")
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class WorkloadsRequest(Request):
    """List every workload and its target, and every data set: its examples, its size, whether it is here."""

    command: ClassVar = "workloads"
    examples: ClassVar = ("scalewise workloads",)


@dataclass(frozen=True, kw_only=True)
class DataRequest(Request):
    """Show where scalewise looks for data; with a name, fetch and check that data set."""

    command: ClassVar = "data"
    examples: ClassVar = ("scalewise data", "scalewise data mnist")

    name: Annotated[str | None, Argument("NAME", "The data set to fetch and check.")] = None
