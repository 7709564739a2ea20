"""Lists the built-in workloads."""

from scalewise.data.images import IMAGE_DATA
from scalewise.workloads.images import default_of, model_names


def catalogue() -> list[dict[str, str]]:
    """Return one row per workload, ready to print."""
    return [
        {
            "workload": f"{data.name}/{model}",
            "train/val/test": f"{data.train_examples}/{data.val_examples}/{data.test_examples}",
            "target": f"error<{default_of(data.name, model).error}",
            "data": "here" if data.here() else "missing",
        }
        for data in IMAGE_DATA.values()
        for model in model_names(data.name)
    ]
