"""Examples that stay on disk: read when they are needed, by processes that run ahead of the training."""

import functools
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader, default_collate

from scalewise.cluster.collectives import end_with_parent
from scalewise.cluster.signals import STOP_SIGNALS
from scalewise.data.splits import Examples, Split
from scalewise.data.trees import as_tree

_BATCHES_AHEAD = 4  # of each reader
# A forked reader has the user's data set as it is; other ways would have to import the user's file by a name.
_HOW_TO_START = "fork" if sys.platform == "linux" else None

Item = int | tuple[int, int]
"""Which example to read; with a seed, as training sees it."""


class Dataset(Protocol):
    """What a user's own data is: so many pairs (input, target), each the same whenever it is asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True)
class Reading:
    """How examples are read one by one, and put together."""

    collate: Callable[[list[Any]], Any] = default_collate
    transform_example: Callable[[Any, int], Any] | None = None
    """What is done to an example that training asks for, by its seed."""


@dataclass(frozen=True)
class StoredSplit(Examples):
    """A split whose examples a data set reads one by one."""

    dataset: Dataset
    readers: int
    """How many processes read ahead; with 0 the training itself reads."""
    device: torch.device
    reading: Reading = Reading()
    chosen: tuple[int, ...] | None = None
    """The examples that are left of the data set; None: all."""

    def __len__(self) -> int:
        return len(self.dataset) if self.chosen is None else len(self.chosen)

    def __getitem__(self, item: Item) -> Any:
        """Read one example, as the data set has it or as training sees it."""
        index, seed = item if isinstance(item, tuple) else (item, None)
        example = self.dataset[index if self.chosen is None else self.chosen[index]]
        if seed is None or self.reading.transform_example is None:
            return example
        return self.reading.transform_example(example, seed)

    def take(self, indices: Tensor, seeds: Tensor | None = None) -> Split:
        """Read some examples now."""
        return self._used(self.reading.collate([self[item] for item in items(indices, seeds)]))

    def part(self, start: int, stop: int) -> Split:
        """Read a run of examples now."""
        return self.take(torch.arange(start, min(stop, len(self))))

    def runs(self, ranges: Iterable[range]) -> Iterator[Split]:
        """Read one run of examples after the other, ahead of whoever uses them."""
        return self.stream([range(run.start, min(run.stop, len(self))) for run in ranges])

    def stream(self, batches: Iterable[Sequence[Item]]) -> Iterator[Split]:
        """Read one batch after the other, ahead of whoever uses them; there may be no end of them."""
        loader: DataLoader[Any] = DataLoader(
            self,  # type: ignore[arg-type] # it need not be torch's own class
            batch_sampler=batches,  # type: ignore[arg-type] # nor this one
            num_workers=self.readers,
            collate_fn=self.reading.collate,
            prefetch_factor=_BATCHES_AHEAD if self.readers else None,
            multiprocessing_context=_HOW_TO_START if self.readers else None,
            worker_init_fn=functools.partial(_read_for, os.getpid()),
            pin_memory=self.device.type == "cuda",
        )
        return map(self._used, loader)

    def only(self, indices: Tensor) -> "StoredSplit":
        """Leave the other examples out."""
        chosen = indices.tolist()
        return replace(self, chosen=tuple(chosen if self.chosen is None else (self.chosen[index] for index in chosen)))

    def to(self, device: torch.device) -> "StoredSplit":
        """Move examples to a device once they are read."""
        return replace(self, device=device)

    def _used(self, batch: Any) -> Split:
        inputs, targets = batch
        return Split(as_tree(inputs), as_tree(targets)).to(self.device)


def items(indices: Tensor, seeds: Tensor | None) -> list[Any]:
    """Say which examples to read, with their seeds where there are any."""
    return indices.tolist() if seeds is None else list(zip(indices.tolist(), seeds.tolist(), strict=True))


def _read_for(training: int, reader: int) -> None:
    """Read as long as the training lives, also when the whole job is asked to stop: it finishes its step first.

    torch's own check takes whoever is the parent by now for the training, and so never ends if that died before it.
    """
    end_with_parent(training)
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
