"""The arguments and options that several commands share, each with its help, stated once."""

from pathlib import Path
from typing import Annotated

import typer

Workload = Annotated[
    str,
    typer.Argument(metavar="WORKLOAD", help="dataset/model, or path/to/file.py:MyWorkload.", show_default=False),
]

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change one setting, such as recipe.global_batch=512. Repeat it for several.",
    ),
]

Workers = Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Training processes on this machine.")]

Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="TARGET",
        help="A metric and a value, such as 'val/classification_error<0.12'. By default the workload's own.",
    ),
]

Scaling = Annotated[
    str,
    typer.Option(
        "--scaling", metavar="weak|strong", help="weak keeps the batch of each worker, strong the global batch."
    ),
]

OutToContinue = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Folder of the results. If the command was stopped, it continues from there.",
        show_default=False,
    ),
]

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder of the results.")]

Steps = Annotated[
    Path | None,
    typer.Option("--steps", metavar="FILE", help="A steps.csv from anywhere, instead of a study."),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
