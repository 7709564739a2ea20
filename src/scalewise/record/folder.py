"""The run folder: what a run leaves behind, and how a run finds what an earlier sitting left."""

import datetime
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalewise.config import Config, differences, model_decisions, read_config, to_yaml
from scalewise.errors import FolderError
from scalewise.recipe.resolve import ResolvedConfig, fingerprint, resolve
from scalewise.record.atomic import told, write_atomically
from scalewise.record.checkpoints import Checkpoints, SavedState, pack
from scalewise.record.lock import acquire
from scalewise.record.measurements import Measurements

if TYPE_CHECKING:  # whoever only reads about runs need not wait for torch
    from torch import Tensor


@dataclass(frozen=True)
class RunFolder:
    """One run on disk. Only the chief has one."""

    path: Path

    @property
    def _config(self) -> Path:
        return self.path / "run.yaml"

    @property
    def _metadata(self) -> Path:
        return self.path / "metadata.json"

    @property
    def model(self) -> Path:
        """Where the final weights lie."""
        return self.path / "model.safetensors"

    @property
    def events(self) -> Path:
        """Where TensorBoard event files lie."""
        return self.path / "tensorboard"

    @property
    def _measurements(self) -> Measurements:
        return Measurements(self.path / "measurements.csv")

    @property
    def _checkpoints(self) -> Checkpoints:
        return Checkpoints(self.path / "checkpoints")

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Be the only writer for the length of a `with` block."""
        with told(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = acquire(self.path / ".lock")
        with lock:
            yield

    def write_config(self, config: Config) -> None:
        """Write the configuration; its cluster may differ from that of an earlier sitting."""
        self._write(self._config, to_yaml(config).encode())

    def begun(self) -> bool:
        """Say whether a run has ever begun here."""
        return self._config.exists()

    def config(self) -> Config:
        """Read the configuration of the run."""
        return read_config(self._config)

    def check(self, config: ResolvedConfig) -> None:
        """Refuse a folder whose run has another recipe."""
        if not self.begun():
            return
        found = differences(model_decisions(resolve(self.config())), model_decisions(config))
        if found:
            raise FolderError(
                f"{self.path} holds a run of another recipe: {'; '.join(found)}; "
                "use another --out, or --fresh to move the old run aside"
            )

    def metadata(self) -> dict[str, Any]:
        """Read what is known about the run; nothing when there is none yet."""
        try:
            content: dict[str, Any] = json.loads(self._metadata.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise FolderError(f"cannot read {self._metadata}: {error}") from None
        return content

    def finished(self) -> str | None:
        """Return what became of a run that has ended, or None for one to be continued."""
        status = self.metadata().get("status")
        return status if status in ("COMPLETE", "INFEASIBLE") else None

    def write_metadata(self, content: Mapping[str, Any]) -> None:
        """Replace what is known about the run."""
        self._write(self._metadata, json.dumps(content, indent=2).encode() + b"\n")

    def write_measurement(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add one evaluation."""
        with told(self.path):
            self._measurements.append(step, metrics)

    def measurements(self) -> list[tuple[int, dict[str, float]]]:
        """Read all evaluations: the step of each and its metrics."""
        return self._measurements.rows()

    def save_checkpoint(
        self, step: int, recipe: str, tensors: "Mapping[str, Tensor]", numbers: Mapping[str, Any], keep: int
    ) -> None:
        """Write a checkpoint of a recipe, told by its hash; keep so many."""
        with told(self.path):
            self._checkpoints.save(step, recipe, tensors, numbers, keep)

    def latest_checkpoint(self, config: ResolvedConfig, say: Callable[[str], None]) -> SavedState | None:
        """Read the newest checkpoint of this recipe that is undamaged, if there is one."""
        return self._checkpoints.latest(config.workload, fingerprint(config), say)

    def keep_measurements_until(self, step: int) -> tuple[int, dict[str, float]] | None:
        """Forget evaluations after a step; return the last one that is left."""
        with told(self.path):
            return self._measurements.keep_until(step)

    def write_model(self, tensors: "Mapping[str, Tensor]") -> None:
        """Write the final weights."""
        self._write(self.model, pack(tensors))

    def write_plain_model(self, tensors: "Mapping[str, Tensor]") -> None:
        """Write the final weights without averaging."""
        self._write(self.path / "model_plain.safetensors", pack(tensors))

    def _write(self, file: Path, content: bytes) -> None:
        with told(self.path):
            write_atomically(file, content)


def move_aside(path: Path) -> Path | None:
    """Give an existing run folder another name; nothing is ever deleted."""
    if not path.exists():
        return None
    with RunFolder(path).claimed():
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S-%f")
        return path.rename(path.with_name(f"{path.name}.before-{stamp}"))
