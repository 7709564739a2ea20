"""What each command can be asked for: every field with the words that say it and its default, stated once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from scalewise.requests.line import Argument, Option, Request

AsJson = Annotated[bool, Option("--json")]
Overrides = Annotated[tuple[str, ...], Option("--set")]
Scaling = Literal["weak", "strong"]


@dataclass(frozen=True, kw_only=True)
class TrainRequest(Request):
    """Train one run."""

    command: ClassVar = "train"

    workload: Annotated[str, Argument()]
    recipe: Annotated[str | None, Option("--recipe")] = None
    """A YAML file, or presets joined by `+`."""
    overrides: Overrides = ()
    workers: Annotated[int | None, Option("--workers")] = None
    out: Annotated[Path | None, Option("--out")] = None
    fresh: Annotated[bool, Option("--fresh")] = False
    as_json: AsJson = False
    quiet: Annotated[bool, Option("--quiet")] = False


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """Train several recipes and compare them with a small-batch baseline."""

    command: ClassVar = "compare"

    workload: Annotated[str, Argument()]
    recipes: Annotated[tuple[str, ...], Option("--recipes", by_commas=True)]
    """Presets or files, each maybe with a workload of its own behind an @."""
    global_batch: Annotated[int, Option("--global-batch")]
    baseline_batch: Annotated[int, Option("--baseline-batch")]
    epochs: Annotated[float, Option("--epochs")]
    out: Annotated[Path, Option("--out")]
    learning_rate: Annotated[float | None, Option("--learning-rate")] = None
    """The baseline's, and so the reference of every recipe without one of its own."""
    seeds: Annotated[int, Option("--seeds")] = 1
    overrides: Overrides = ()
    workers: Annotated[int, Option("--workers")] = 1
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class BenchRequest(Request):
    """Measure seconds per step."""

    command: ClassVar = "bench"

    workload: Annotated[str, Argument()]
    workers: Annotated[tuple[int, ...], Option("--workers", by_commas=True)] = (1, 2)
    microbatches: Annotated[tuple[int, ...] | Literal["auto"], Option("--microbatch", by_commas=True)] = (64,)
    """Auto: the largest that fits."""
    scaling: Annotated[Scaling, Option("--scaling")] = "weak"
    """Weak keeps the examples per worker, strong the global batch."""
    seconds: Annotated[float, Option("--seconds")] = 20.0
    synthetic: Annotated[bool, Option("--synthetic")] = False
    trace: Annotated[bool, Option("--trace")] = False
    cluster: Annotated[str, Option("--cluster")] = "local"
    overrides: Overrides = ()
    out: Annotated[Path, Option("--out")] = Path("runs/bench")
    as_json: AsJson = False
    group_result: Annotated[Path | None, Option("--group-result")] = None
    """Where a worker that another bench started leaves what was measured."""


@dataclass(frozen=True, kw_only=True)
class BenchFileRequest(Request):
    """Show what a bench measured elsewhere."""

    command: ClassVar = "bench"

    file: Annotated[Path, Option("--from")]
    scaling: Annotated[Scaling, Option("--scaling")] = BenchRequest.scaling
    out: Annotated[Path, Option("--out")] = BenchRequest.out
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class StudyRequest(Request):
    """Measure steps to target against batch size."""

    command: ClassVar = "study"

    workload: Annotated[str, Argument()]
    batch_sizes: Annotated[tuple[int, ...], Option("--batch-sizes", by_commas=True)]
    out: Annotated[Path, Option("--out")]
    trials: Annotated[int, Option("--trials")] = 40
    optimizer: Annotated[str | None, Option("--optimizer")] = None
    space: Annotated[Path | None, Option("--space")] = None
    target: Annotated[str | None, Option("--target")] = None
    max_steps: Annotated[int | None, Option("--max-steps")] = None
    max_epochs: Annotated[float | None, Option("--max-epochs")] = None
    racing: Annotated[bool, Option("--race")] = True
    widen: Annotated[bool, Option("--widen")] = False
    seed: Annotated[int, Option("--seed")] = 0
    jobs: Annotated[int, Option("--jobs")] = 1
    overrides: Overrides = ()
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class AnalyzeRequest(Request):
    """Find the critical batch size in a folder of studies, or in a file of steps."""

    command: ClassVar = "analyze"

    folder: Annotated[Path | None, Argument()] = None
    steps_file: Annotated[Path | None, Option("--steps")] = None
    targets: Annotated[tuple[str, ...], Option("--target")] = ()
    """None: the study's own."""
    step_budget: Annotated[int | None, Option("--step-budget")] = None
    epoch_budget: Annotated[float | None, Option("--epoch-budget")] = None
    out: Annotated[Path | None, Option("--out")] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class PredictRequest(Request):
    """Predict seconds per step for numbers of workers that were not measured."""

    command: ClassVar = "predict"

    throughput: Annotated[Path, Argument()]
    workers: Annotated[tuple[int, ...], Option("--workers", by_commas=True)] = ()
    """None: the fit alone."""
    up_to: Annotated[int | None, Option("--up-to")] = None
    """Larger numbers of workers are kept from the fit, and predicted to be compared."""
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class PlanRequest(Request):
    """Find the fastest and the cheapest cluster."""

    command: ClassVar = "plan"

    clusters: Annotated[Path, Option("--clusters")]
    study: Annotated[Path | None, Option("--study")] = None
    steps: Annotated[Path | None, Option("--steps")] = None
    bench: Annotated[Path | None, Option("--bench")] = None
    throughput: Annotated[Path | None, Option("--throughput")] = None
    target: Annotated[str | None, Option("--target")] = None
    deadline_hours: Annotated[float | None, Option("--deadline")] = None
    budget: Annotated[float | None, Option("--budget")] = None
    reliability: Annotated[float, Option("--reliability")] = 0.0
    only: Annotated[tuple[str, ...], Option("--only", by_commas=True)] = ()
    out: Annotated[Path, Option("--out")] = Path("runs/plan")
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class AdviseRequest(Request):
    """Measure a little of everything, and recommend."""

    command: ClassVar = "advise"

    workload: Annotated[str, Argument()]
    out: Annotated[Path, Option("--out")]
    target: Annotated[str | None, Option("--target")] = None
    clusters: Annotated[Path | None, Option("--clusters")] = None
    minutes: Annotated[float, Option("--minutes")] = 5.0
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class NoiseRequest(Request):
    """Train briefly and measure the gradient noise scale."""

    command: ClassVar = "noise"

    workload: Annotated[str, Argument()]
    steps: Annotated[int, Option("--steps")] = 200
    workers: Annotated[int, Option("--workers")] = 1
    overrides: Overrides = ()
    out: Annotated[Path | None, Option("--out")] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class ReportRequest(Request):
    """Write one page about any results."""

    command: ClassVar = "report"

    folders: Annotated[tuple[Path, ...], Argument()]
    out: Annotated[Path | None, Option("--out")] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class WorkloadsRequest(Request):
    """List the workloads."""

    command: ClassVar = "workloads"


@dataclass(frozen=True, kw_only=True)
class DataRequest(Request):
    """Show where data is looked for, or fetch some."""

    command: ClassVar = "data"

    name: Annotated[str | None, Argument()] = None
    route: Annotated[str | None, Option("--from")] = None
