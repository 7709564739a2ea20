"""The words that several commands share, each with its help, stated once."""

from pathlib import Path
from typing import Annotated, Literal

from scalewise.requests.line import Argument, Option

_TARGET_HELP = "A metric and a value, such as 'val/classification_error<0.12'. By default the workload's own."
CLUSTERS_HELP = "YAML file of clusters: names, sizes, prices."
WORKERS_HELP = "Training processes on this machine."

WorkloadName = Annotated[str, Argument("WORKLOAD", "dataset/model, or path/to/file.py:MyWorkload.")]
Overrides = Annotated[
    tuple[str, ...],
    Option("--set", "KEY=VALUE", "Change one setting, such as recipe.global_batch=512. Repeat it for several."),
]
Workers = Annotated[int, Option("--workers", "N", WORKERS_HELP, least=1)]
TargetText = Annotated[str | None, Option("--target", "TARGET", _TARGET_HELP)]
Steps = Annotated[Path | None, Option("--steps", "FILE", "A steps.csv from another source, instead of a study.")]
ScalingMode = Annotated[
    Literal["weak", "strong"],
    Option("--scaling", "weak|strong", "weak keeps the batch of each worker; strong keeps the global batch."),
]
Out = Annotated[Path, Option("--out", "FOLDER", "Folder of the results.")]
OutToContinue = Annotated[
    Path, Option("--out", "FOLDER", "Folder of the results. If the command was stopped, it continues from there.")
]
AsJson = Annotated[bool, Option("--json", help="Print the results as JSON.")]
