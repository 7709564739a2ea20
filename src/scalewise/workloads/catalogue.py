"""Lists the built-in workloads."""

from scalewise.data.images import IMAGE_DATA
from scalewise.workloads.images import MODEL_NAMES, default_of


def catalogue() -> list[dict[str, str]]:
    """Return one row per workload, ready to print."""
    return [
        {
            "workload": f"{data.name}/{model}",
            "images": "x".join(map(str, data.shape)),
            "train": f"{data.train_examples:,}",
            "val": f"{data.val_examples:,}",
            "test": f"{data.test_examples:,}",
            "target": f"val/classification_error<{default_of(data.name, model).error}",
            "data is here": "yes" if data.here() else f"no: scalewise data {data.source.name if data.source else ''}",
        }
        for data in IMAGE_DATA.values()
        for model in MODEL_NAMES
    ]
