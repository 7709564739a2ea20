"""The requests of the commands that train or measure: each field with its option, its help and its default."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from scalewise.requests.line import Option, Request
from scalewise.requests.options import (
    CLUSTERS_HELP,
    WORKERS_HELP,
    AsJson,
    Out,
    OutToContinue,
    Overrides,
    ScalingMode,
    TargetText,
    Workers,
    WorkloadName,
)


@dataclass(frozen=True, kw_only=True)
class TrainRequest(Request):
    """Train a workload with a recipe; the model is the same on any number of workers."""

    command: ClassVar = "train"
    examples: ClassVar = (
        "scalewise train digits/fc_64_64",
        "scalewise train mnist/simple_cnn_base --workers 2 --set recipe.global_batch=512 --out runs/mine",
    )

    workload: WorkloadName
    recipe: Annotated[
        str | None,
        Option(
            "--recipe",
            "RECIPE",
            "A YAML file of settings, such as a run's run.yaml, or presets, such as linear+warmup.",
        ),
    ] = None
    overrides: Overrides = ()
    workers: Annotated[
        int | None,
        Option("--workers", "N", f"{WORKERS_HELP} By default 1, or the number that a launcher started.", least=1),
    ] = None
    out: Annotated[Path | None, Option("--out", "FOLDER", "Run folder. An unfinished run in it is continued.")] = None
    exact: Annotated[bool, Option("--exact", help="Make the model bit-identical for every number of workers.")] = False
    fresh: Annotated[bool, Option("--fresh", help="Move an existing run folder aside and start again.")] = False
    as_json: AsJson = False
    quiet: Annotated[bool, Option("--quiet", help="Print nothing at the end.")] = False

    @property
    def settings(self) -> tuple[str, ...]:
        """All settings that are changed."""
        return (*self.overrides, "recipe.exact=true") if self.exact else self.overrides


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """Train with several large-batch recipes and compare them with a small-batch baseline."""

    command: ClassVar = "compare"
    examples: ClassVar = (
        "scalewise compare digits/fc_64_64 --recipes naive,linear+warmup,lamb --baseline-batch 32 --global-batch 512 "
        "--epochs 10 --seeds 3 --out runs/compare",
    )

    workload: WorkloadName
    recipes: Annotated[
        tuple[str, ...],
        Option(
            "--recipes",
            "A,B,...",
            "Presets or YAML files, separated by commas. + joins presets; @ names another workload for one recipe.",
            by_commas=True,
        ),
    ]
    global_batch: Annotated[int, Option("--global-batch", "N", "The batch of every recipe.", least=1)]
    baseline_batch: Annotated[
        int, Option("--baseline-batch", "N", "The batch of the baseline, which uses the plain recipe.", least=1)
    ]
    epochs: Annotated[float, Option("--epochs", "X", "How many epochs each recipe trains.")]
    out: OutToContinue
    learning_rate: Annotated[
        float | None,
        Option(
            "--learning-rate",
            "X",
            "The baseline's learning rate, which scaling starts from. By default the workload's own.",
        ),
    ] = None
    seeds: Annotated[int, Option("--seeds", "N", "How many seeds each recipe is trained with.", least=1)] = 1
    overrides: Overrides = ()
    workers: Workers = 1
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class BenchRequest(Request):
    """Measure seconds per step against workers and batch, and where the time goes."""

    command: ClassVar = "bench"
    examples: ClassVar = (
        "scalewise bench fashion_mnist/simple_cnn_base --workers 1,2 --microbatch 32,64",
        "scalewise bench --from throughput.csv",
    )

    workload: WorkloadName
    workers: Annotated[
        tuple[int, ...],
        Option(
            "--workers",
            "N,N,...",
            "Numbers of workers, separated by commas; under a launcher, the number that it started.",
            by_commas=True,
        ),
    ] = (1, 2)
    microbatches: Annotated[
        tuple[int, ...] | Literal["auto"],
        Option(
            "--microbatch",
            "N,N,...|auto",
            "Microbatches, separated by commas. auto finds the largest that fits.",
            by_commas=True,
        ),
    ] = (64,)
    scaling: ScalingMode = "weak"
    seconds: Annotated[float, Option("--seconds", "X", "The most seconds to measure each point.")] = 20.0
    synthetic: Annotated[
        bool,
        Option("--synthetic", help="Train on the same microbatch in every step, which takes no time for reading data."),
    ] = False
    trace: Annotated[bool, Option("--trace", help="Also record a few steps as a Chrome trace.")] = False
    cluster: Annotated[str, Option("--cluster", "NAME", "The name of this cluster in throughput.csv.")] = "local"
    overrides: Overrides = ()
    out: Out = Path("runs/bench")
    as_json: AsJson = False
    group_result: Annotated[Path | None, Option("--group-result", hidden=True)] = None
    """Where a worker that another bench started writes its results."""


@dataclass(frozen=True, kw_only=True)
class BenchFileRequest(Request):
    """Show a throughput.csv that was measured elsewhere."""

    command: ClassVar = BenchRequest.command
    examples: ClassVar = BenchRequest.examples

    file: Annotated[Path, Option("--from", "FILE", "Show this throughput.csv instead of measuring.")]
    scaling: ScalingMode = BenchRequest.scaling
    out: Out = BenchRequest.out
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class StudyRequest(Request):
    """Measure steps to target against batch size, with settings tuned for each batch size."""

    command: ClassVar = "study"
    examples: ClassVar = (
        "scalewise study mnist/fc_128_128_128 --batch-sizes 16,64,256,1024 --max-epochs 20 --jobs 2 --out runs/study",
    )

    workload: WorkloadName
    batch_sizes: Annotated[
        tuple[int, ...],
        Option("--batch-sizes", "N,N,...", "Separated by commas, such as 16,64,256.", by_commas=True),
    ]
    out: OutToContinue
    trials: Annotated[int, Option("--trials", "N", "How many settings are tried at each batch size.", least=1)] = 40
    optimizer: Annotated[str | None, Option("--optimizer", "NAME", "By default the workload's own.")] = None
    space: Annotated[
        Path | None, Option("--space", "FILE", "YAML file of the settings to search and their ranges.")
    ] = None
    target: TargetText = None
    max_steps: Annotated[int | None, Option("--max-steps", "N", "The most steps that a trial may take.", least=1)] = (
        None
    )
    max_epochs: Annotated[float | None, Option("--max-epochs", "X", "The most epochs that a trial may take.")] = None
    racing: Annotated[bool, Option("--race", help="Stop trials that cannot change the answer.")] = True
    widen: Annotated[
        bool,
        Option("--widen", help="If the best trial is at the end of a range, try as many settings again beyond it."),
    ] = False
    seed: Annotated[int, Option("--seed", "N", "Decides which settings are tried.", least=0)] = 0
    jobs: Annotated[int, Option("--jobs", "N", "Trials at a time, each with one thread.", least=1)] = 1
    overrides: Overrides = ()
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class NoiseRequest(Request):
    """Train briefly and predict, from the gradient noise scale, which batch sizes pay off."""

    command: ClassVar = "noise"
    examples: ClassVar = ("scalewise noise fashion_mnist/fc_128_128_128 --steps 400",)

    workload: WorkloadName
    steps: Annotated[int, Option("--steps", "N", "How many steps to train.", least=4)] = 200
    workers: Workers = 1
    overrides: Overrides = ()
    out: Annotated[Path | None, Option("--out", "FOLDER", "Keep the run in this folder.")] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class AdviseRequest(Request):
    """Measure a little of everything, and say which batch, learning rate and cluster to train with."""

    command: ClassVar = "advise"
    examples: ClassVar = (
        "scalewise advise digits/fc_64_64 --out runs/advise",
        "scalewise advise my_workload.py:Mine --clusters clusters.yaml --minutes 30 --out runs/mine",
    )

    workload: WorkloadName
    out: OutToContinue
    target: TargetText = None
    clusters: Annotated[Path | None, Option("--clusters", "FILE", f"{CLUSTERS_HELP} By default made-up examples.")] = (
        None
    )
    minutes: Annotated[float, Option("--minutes", "X", "Approximate time limit.")] = 5.0
    as_json: AsJson = False
