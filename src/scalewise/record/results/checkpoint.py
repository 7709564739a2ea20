"""The small files of a checkpoint: its numbers, and the manifest that shows whether all files are there."""

from collections.abc import Mapping
from typing import Any, ClassVar

from scalewise.record.results.file import FIRST_FORMAT, ResultFile, ResultPart
from scalewise.record.results.run import Times


class NoiseSamples(ResultPart):
    """Sums of the noise scale's samples since the last evaluation."""

    steps: int
    sums: tuple[float, ...]


class CheckpointNumbers(ResultFile):
    """What a run needs to continue, in addition to its tensors."""

    file_name: ClassVar[str] = "numbers.json"

    workload: str
    clock: Times = Times()
    noise: NoiseSamples | None = None
    losses: tuple[float, ...] = ()
    """Of the last steps, where the stopping rule looks at them."""
    step: int | None = None
    """Only version 0.1.0 wrote it here."""


class Manifest(ResultFile):
    """What a checkpoint is: whose, of which step, and the sha256 of each of its files."""

    file_name: ClassVar[str] = "manifest.json"

    step: int | None = None
    recipe: str | None = None
    """The hash of what decides the model."""
    files: dict[str, str]

    @classmethod
    def upgraded(cls, content: dict[str, Any], written_as: int) -> Mapping[str, Any]:
        """Version 0.1.0 had nothing but the files there."""
        return {"files": content} if written_as == FIRST_FORMAT and "files" not in content else content
