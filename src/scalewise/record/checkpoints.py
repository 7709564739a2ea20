"""Checkpoints: tensors and a few numbers with a manifest, written under a temporary name and then renamed."""

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from scalewise.errors import FolderError
from scalewise.record.results.checkpoint import CheckpointNumbers, Manifest
from scalewise.storage import Store

if TYPE_CHECKING:  # code that only reads results does not wait for torch
    from torch import Tensor

_TENSORS, _NUMBERS, _MANIFEST = "tensors.safetensors", CheckpointNumbers.file_name, Manifest.file_name


@dataclass(frozen=True)
class SavedState:
    """What a checkpoint holds."""

    step: int
    tensors: "dict[str, Tensor]"
    numbers: CheckpointNumbers


class DamagedError(Exception):
    """A checkpoint whose content is not what was written, or that is not where it was written."""


class ForeignError(Exception):
    """A checkpoint of another recipe."""


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of a run, each a folder named by its step."""

    store: Store

    def save(
        self, step: int, recipe: str, tensors: "Mapping[str, Tensor]", numbers: CheckpointNumbers, keep: int
    ) -> None:
        """Write a checkpoint, then drop the oldest beyond those to keep; a failure leaves all older ones."""
        if self.store.exists(f"{step}/{_MANIFEST}"):  # it is there already, and the state of a step never changes
            return
        contents = {_TENSORS: pack(tensors), _NUMBERS: numbers.content()}
        self.store.write_together(str(step), {**contents, _MANIFEST: _manifest(step, recipe, contents)})
        for old in self.steps()[:-keep]:
            with contextlib.suppress(FolderError):
                self.store.remove(str(old))

    def steps(self) -> list[int]:
        """List the steps with a checkpoint, oldest first."""
        folders = {folder for folder, _, file in (name.partition("/") for name in self.store.names()) if file}
        return sorted(int(folder) for folder in folders if folder.isascii() and folder.isdigit())

    def latest(self, workload: str, recipe: str, say: Callable[[str], None]) -> SavedState | None:
        """Read the newest undamaged checkpoint of a recipe; set others aside and say so.

        If all that is left belongs to other recipes, somebody has mixed up folders, and nothing is changed.
        """
        aside: dict[int, str] = {}
        foreign: ForeignError | None = None
        found = None
        for step in reversed(self.steps()):
            try:
                found = _read(self.store, step, workload, recipe)
                break
            except DamagedError as error:
                say(f"the checkpoint at step {step} is damaged ({error}): the one before it is used")
                aside[step] = "damaged"
            except ForeignError as error:
                say(f"the checkpoint at step {step} {error}: the one before it is used")
                aside[step], foreign = "foreign", error
        if found is None and foreign is not None:
            raise FolderError(f"the checkpoint in {self.store.address()} {foreign}; use another --out")
        for step, why in aside.items():
            with contextlib.suppress(FolderError):
                self.store.move(str(step), f"{step}.{why}")
        return found


def pack(tensors: "Mapping[str, Tensor]") -> bytes:
    """Turn named tensors into the bytes of a safetensors file, in one order for the same names."""
    from safetensors.torch import save

    return save({name: tensors[name].detach().cpu().clone().contiguous() for name in sorted(tensors)})


def _manifest(step: int, recipe: str, contents: Mapping[str, bytes]) -> bytes:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return Manifest(step=step, recipe=recipe, files=digests).content()


def _schema(recipe: str) -> str:
    """Return the number before a recipe's hash: hashes of different schemas cannot be compared."""
    return recipe.partition("-")[0]


def _read(store: Store, step: int, workload: str, recipe: str) -> SavedState:
    from safetensors.torch import load

    try:
        manifest = Manifest.parse(_content(store, step, _MANIFEST), _MANIFEST)
        contents = {name: _content(store, step, name) for name in (_TENSORS, _NUMBERS)}
        for name, content in contents.items():
            if hashlib.sha256(content).hexdigest() != manifest.files.get(name):
                raise DamagedError(f"the sha256 of {name} differs")
        numbers = CheckpointNumbers.parse(contents[_NUMBERS], _NUMBERS)
        _check_place(manifest, numbers, step, workload, recipe)
        return SavedState(step, load(contents[_TENSORS]), numbers)
    except FolderError as error:
        raise DamagedError(str(error)) from None
    except (ValueError, KeyError, TypeError, SafetensorError) as error:
        raise DamagedError(f"{type(error).__name__}: {error}") from None


def _check_place(manifest: Manifest, numbers: CheckpointNumbers, step: int, workload: str, recipe: str) -> None:
    """Refuse a checkpoint that was written elsewhere."""
    written = numbers.step if manifest.step is None else manifest.step
    if written != step:
        raise DamagedError(f"it was written at step {written}")
    if numbers.workload != workload:
        raise ForeignError(f"belongs to the workload {numbers.workload!r}, not {workload!r}")
    written_by = recipe if manifest.recipe is None else manifest.recipe
    if _schema(written_by) == _schema(recipe) and written_by != recipe:
        raise ForeignError("belongs to a run of another recipe")


def _content(store: Store, step: int, name: str) -> bytes:
    content = store.read(f"{step}/{name}")
    if content is None:
        raise DamagedError(f"{name} is missing")
    return content
