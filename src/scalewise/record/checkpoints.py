"""Checkpoints: tensors and a few numbers, written beside, checked by a manifest, and only then given their name."""

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError

from scalewise.errors import FolderError
from scalewise.record.atomic import sync_folder, write_durably

if TYPE_CHECKING:  # whoever only reads about runs need not wait for torch
    from torch import Tensor

_TENSORS, _NUMBERS, _MANIFEST = "tensors.safetensors", "numbers.json", "manifest.json"


@dataclass(frozen=True)
class SavedState:
    """What a checkpoint holds."""

    step: int
    tensors: "dict[str, Tensor]"
    numbers: dict[str, Any]


class DamagedError(Exception):
    """A checkpoint whose content is not what was written, or that is not where it was written."""


class ForeignError(Exception):
    """A checkpoint of another recipe."""


@dataclass(frozen=True)
class Checkpoints:
    """The folder of checkpoints, each a folder named by its step."""

    folder: Path

    def save(
        self, step: int, recipe: str, tensors: "Mapping[str, Tensor]", numbers: Mapping[str, Any], keep: int
    ) -> None:
        """Write a checkpoint, then drop the oldest beyond those to keep; a failure leaves all older ones."""
        final = self.folder / str(step)
        if final.exists():  # a sitting that ended where it began: the state of a step never changes
            return
        partial = self.folder / f".{step}.partial"
        try:
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            _write(partial, step, recipe, {_TENSORS: pack(tensors), _NUMBERS: json.dumps(numbers).encode()})
            partial.rename(final)
            sync_folder(self.folder)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        for old in self.steps()[:-keep]:
            shutil.rmtree(self.folder / str(old), ignore_errors=True)

    def steps(self) -> list[int]:
        """List the steps with a checkpoint, oldest first."""
        if not self.folder.exists():
            return []
        return sorted(int(entry.name) for entry in self.folder.iterdir() if entry.name.isdigit())

    def latest(self, workload: str, recipe: str, say: Callable[[str], None]) -> SavedState | None:
        """Read the newest undamaged checkpoint of a recipe; set others aside and say so.

        Where all that is left belongs to other recipes, somebody has mixed up folders, and nothing is touched.
        """
        aside: dict[int, str] = {}
        foreign: ForeignError | None = None
        found = None
        for step in reversed(self.steps()):
            try:
                found = _read(self.folder / str(step), step, workload, recipe)
                break
            except DamagedError as error:
                say(f"the checkpoint at step {step} is damaged ({error}): the one before it is used")
                aside[step] = "damaged"
            except ForeignError as error:
                say(f"the checkpoint at step {step} {error}: the one before it is used")
                aside[step], foreign = "foreign", error
        if found is None and foreign is not None:
            raise FolderError(f"the checkpoint in {self.folder.parent} {foreign}; use another --out")
        for step, why in aside.items():
            with contextlib.suppress(OSError):
                (self.folder / str(step)).rename(self.folder / f"{step}.{why}")
        return found


def pack(tensors: "Mapping[str, Tensor]") -> bytes:
    """Turn named tensors into the bytes of a safetensors file, in one order for the same names."""
    from safetensors.torch import save

    return save({name: tensors[name].detach().cpu().clone().contiguous() for name in sorted(tensors)})


def _write(folder: Path, step: int, recipe: str, contents: Mapping[str, bytes]) -> None:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = {"step": step, "recipe": recipe, "files": digests}
    for name, content in (*contents.items(), (_MANIFEST, json.dumps(manifest).encode())):
        write_durably(folder / name, content)
    sync_folder(folder)


def _schema(recipe: str) -> str:
    """Return the number before a recipe's hash: hashes of different schemas cannot be compared."""
    return recipe.partition("-")[0]


def _read(folder: Path, step: int, workload: str, recipe: str) -> SavedState:
    from safetensors.torch import load

    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        digests = manifest.get("files", manifest)  # version 0.1.0 had nothing else there
        contents = {name: (folder / name).read_bytes() for name in (_TENSORS, _NUMBERS)}
        for name, content in contents.items():
            if hashlib.sha256(content).hexdigest() != digests[name]:
                raise DamagedError(f"the sha256 of {name} differs")
        numbers = json.loads(contents[_NUMBERS])
        written = manifest.get("step", numbers.get("step"))
        if written != step:
            raise DamagedError(f"it was written at step {written}")
        if numbers["workload"] != workload:
            raise ForeignError(f"belongs to the workload {numbers['workload']!r}, not {workload!r}")
        written_by = manifest.get("recipe", recipe)
        if _schema(written_by) == _schema(recipe) and written_by != recipe:
            raise ForeignError("belongs to a run of another recipe")
        return SavedState(step, load(contents[_TENSORS]), numbers)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise DamagedError(f"{type(error).__name__}: {error}") from None
