"""advise.json: which advice was asked for, and the answer when it has ended."""

from typing import ClassVar

from scalewise.record.results.file import ResultFile


class AdviseFile(ResultFile):
    """The whole file."""

    file_name: ClassVar = "advise.json"
    leaves_out_none: ClassVar = False

    workload: str
    target: str | None = None
    says: tuple[str, ...] = ()
    """Nothing until it has ended."""
