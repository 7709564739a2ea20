"""Trains every built-in workload by its default recipe and records whether and when it reaches its target."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scalewise.data.images import IMAGE_DATA

RESULTS = Path(__file__).parent / "results" / "targets.json"
MODELS = ("fc_1024", "fc_64_64_64", "simple_cnn_narrow", "simple_cnn_base", "simple_cnn_wide")


def train(workload: str, workers: int) -> dict[str, Any]:
    """Train one workload by its default recipe."""
    with tempfile.TemporaryDirectory() as out:
        command = [
            sys.executable,
            "-m",
            "scalewise",
            "train",
            workload,
            "--workers",
            str(workers),
            "--json",
            "--out",
            out,
        ]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    metadata = json.loads(ended.stdout)
    keep = (
        "workload",
        "target",
        "stopped_by",
        "steps",
        "examples",
        "training_seconds",
        "workers",
        "hardware",
        "versions",
    )
    row = {key: metadata[key] for key in keep}
    row["hardware"].pop("host")
    row["epochs"] = round(metadata["examples"] / metadata["train_examples"], 2)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    rows = {row["workload"]: row for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}
    for model in MODELS:
        for data in IMAGE_DATA:
            workload = f"{data}/{model}"
            if options.only in workload:
                rows[workload] = train(workload, options.workers)
                RESULTS.write_text(json.dumps(list(rows.values()), indent=1) + "\n")
                print(f"{workload}: {rows[workload]['stopped_by']} after {rows[workload]['epochs']} epochs", flush=True)


if __name__ == "__main__":
    main()
