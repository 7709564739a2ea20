"""What a run may have recorded, for tests that need no training."""

from typing import Any

from scalewise.record.results.run import RunMetadata


def run_metadata(**known: Any) -> RunMetadata:
    """Return the metadata of some run, of which a test names what it looks at."""
    usual = {"status": "COMPLETE", "steps": 10, "examples": 320, "train_examples": 1297, "workers": 1}
    return RunMetadata.model_validate({"workload": "digits/fc_16", **usual, **known})
