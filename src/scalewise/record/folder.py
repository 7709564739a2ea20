"""The run folder: what a run writes, and how a run finds what an earlier start wrote."""

import datetime
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scalewise.config import Config, differences, model_decisions, read_config, to_yaml
from scalewise.errors import FolderError
from scalewise.recipe.resolve import ResolvedConfig, fingerprint, resolve
from scalewise.record.checkpoints import Checkpoints, SavedState, pack
from scalewise.record.measurements import Measurements
from scalewise.record.results.checkpoint import CheckpointNumbers
from scalewise.record.results.run import RunMetadata
from scalewise.record.status import Status
from scalewise.storage import LocalStore, Store, as_folder_error

_CONFIG = "run.yaml"
_MODEL, _PLAIN_MODEL = "model.safetensors", "model_plain.safetensors"
_WHOLE = ""
"""The name by which the whole folder is claimed."""
# Workers end a moment after their launcher was killed; wait that moment before refusing.
_PATIENCE_SECONDS = 3.0

if TYPE_CHECKING:  # code that only reads results does not wait for torch
    from torch import Tensor


@dataclass(frozen=True)
class RunFolder:
    """One run on disk. Only the chief has one."""

    path: Path

    @property
    def _store(self) -> Store:
        return LocalStore(self.path)

    @property
    def config_file(self) -> Path:
        """The file of the configuration."""
        return self.path / _CONFIG

    @property
    def model(self) -> Path:
        """The file of the final weights."""
        return self.path / _MODEL

    @property
    def events(self) -> Path:
        """The folder of TensorBoard event files."""
        return self.path / "tensorboard"

    @property
    def _measurements(self) -> Measurements:
        return Measurements(self._store)

    @property
    def _checkpoints(self) -> Checkpoints:
        return Checkpoints(LocalStore(self.path / "checkpoints"))

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Be the only writer for the length of a `with` block."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (claim := self._store.claim(_WHOLE)) is None:
            if time.monotonic() > deadline:
                raise FolderError(f"{self._claimed_by()} or use another --out")
            time.sleep(0.1)
        try:
            yield
        finally:
            claim.release()

    def _claimed_by(self) -> str:
        """Say who writes here, and what to do about it."""
        holder = self._store.holder(_WHOLE)
        if holder is None:
            return f"{self.path} is being written by another process; wait for it"
        if holder.gone:
            return (
                f"{self.path} was being written by process {holder.process}, which has ended, "
                "but a process that it started still holds the folder; end that process"
            )
        return (
            f"{self.path} is being written by process {holder.process} on {holder.host} since {holder.since} "
            f"(last active {holder.silent_seconds:.0f} s ago); wait for it"
        )

    def write_config(self, config: Config) -> None:
        """Write the configuration; its cluster may differ from that of an earlier start."""
        self._write(_CONFIG, to_yaml(config).encode())

    def begun(self) -> bool:
        """Say whether a run has ever begun here."""
        return self._store.exists(_CONFIG)

    def config(self) -> Config:
        """Read the configuration of the run."""
        return read_config(self.config_file)

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

    def metadata(self) -> RunMetadata | None:
        """Read what is known about the run; None when there is nothing yet."""
        name = RunMetadata.file_name
        written = self._store.read(name)
        return None if written is None else RunMetadata.parse(written, self._store.address(name))

    def finished(self) -> Status | None:
        """Return the status of a run that has ended, or None for one that can be continued."""
        known = self.metadata()
        return None if known is None or known.status is Status.INCOMPLETE else known.status

    def write_metadata(self, metadata: RunMetadata) -> None:
        """Replace what is known about the run."""
        self._write(metadata.file_name, metadata.content())

    def write_measurement(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add one evaluation."""
        self._measurements.append(step, metrics)
        self._store.heartbeat(_WHOLE)

    def measurements(self) -> list[tuple[int, dict[str, float]]]:
        """Read all evaluations: the step of each and its metrics."""
        return self._measurements.rows()

    def save_checkpoint(
        self, step: int, recipe: str, tensors: "Mapping[str, Tensor]", numbers: CheckpointNumbers, keep: int
    ) -> None:
        """Write a checkpoint of a recipe, identified by its hash; keep this many."""
        self._checkpoints.save(step, recipe, tensors, numbers, keep)

    def latest_checkpoint(self, config: ResolvedConfig, say: Callable[[str], None]) -> SavedState | None:
        """Read the newest checkpoint of this recipe that is undamaged, if there is one."""
        return self._checkpoints.latest(config.workload, fingerprint(config), say)

    def keep_measurements_until(self, step: int) -> tuple[int, dict[str, float]] | None:
        """Drop evaluations after a step; return the last one that is left."""
        return self._measurements.keep_until(step)

    def write_model(self, tensors: "Mapping[str, Tensor]") -> None:
        """Write the final weights."""
        self._write(_MODEL, pack(tensors))

    def write_plain_model(self, tensors: "Mapping[str, Tensor]") -> None:
        """Write the final weights without averaging."""
        self._write(_PLAIN_MODEL, pack(tensors))

    def _write(self, name: str, content: bytes) -> None:
        self._store.write(name, content)
        self._store.heartbeat(_WHOLE)


def move_aside(path: Path) -> Path | None:
    """Give an existing run folder another name; nothing is ever deleted."""
    if not path.exists():
        return None
    with RunFolder(path).claimed(), as_folder_error(path):
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S-%f")
        return path.rename(path.with_name(f"{path.name}.before-{stamp}"))
