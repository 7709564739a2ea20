"""How a published trial ended, as the public batch-science layout has it."""

from typing import Any, ClassVar

from scalewise.record.results.file import ResultFile
from scalewise.record.results.run import RunMetadata
from scalewise.record.status import Status


class PublishedTrial(ResultFile):
    """`metadata.json` of a trial. Its first four keys are the layout's, the others are ours."""

    file_name: ClassVar[str] = RunMetadata.file_name

    trial_id: int
    status: Status
    steps: int
    parameters: dict[str, Any]
    stopped_by: str | None = None
    """Where it ended: `steps`, `diverged`, or `race`, where it could no longer be among the best."""
