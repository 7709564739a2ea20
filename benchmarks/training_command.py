"""Runs the real command line in a folder that is thrown away, and reads how it went."""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class TrainingCommand:
    """One `scalewise train` command."""

    workload: str
    settings: tuple[str, ...]
    workers: int = 1
    exact: bool = False
    torchrun: bool = False
    """Whether torchrun starts it, as its only worker."""

    def metadata(self) -> dict[str, Any]:
        """Run it and return the run's metadata."""
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(self._words(Path(folder)), capture_output=True, text=True)
        if ended.returncode != 0:
            raise RuntimeError(f"{self} ended with code {ended.returncode}:\n{ended.stderr}")
        metadata: dict[str, Any] = json.loads(ended.stdout)
        return metadata

    def step_seconds(self) -> float:
        """Run it and return the mean time of a step."""
        metadata = self.metadata()
        return float(metadata["training_seconds"] / metadata["steps"])

    def _words(self, folder: Path) -> list[str]:
        launcher = ["-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=1"]
        return [
            *(
                sys.executable,
                *(launcher if self.torchrun else []),
                "-m",
                "scalewise",
                "train",
                self.workload,
                "--json",
                "--fresh",
            ),
            *("--out", str(folder / "run"), "--workers", str(self.workers)),
            *(word for setting in self.settings for word in ("--set", setting)),
            *(["--exact"] if self.exact else []),
        ]
