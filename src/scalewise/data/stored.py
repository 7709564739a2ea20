"""Examples that stay on disk: read when they are needed, by processes that run ahead of the training."""

import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Subset, default_collate

from scalewise.cluster.signals import STOP_SIGNALS
from scalewise.data.splits import Examples, Split

_BATCHES_AHEAD = 4  # of each reader
# A forked reader has the user's data set as it is; other ways would have to import the user's file by a name.
_HOW_TO_START = "fork" if sys.platform == "linux" else None


class Dataset(Protocol):
    """What a user's own data is: so many pairs (input, target), each the same whenever it is asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


@dataclass(frozen=True)
class StoredSplit(Examples):
    """A split whose examples a data set reads one by one."""

    dataset: Dataset
    readers: int
    """How many processes read ahead; with 0 the training itself reads."""
    device: torch.device

    def __len__(self) -> int:
        return len(self.dataset)

    def take(self, indices: Tensor) -> Split:
        """Read some examples now."""
        return self._used(default_collate([self.dataset[index] for index in indices.tolist()]))

    def part(self, start: int, stop: int) -> Split:
        """Read a run of examples now."""
        return self.take(torch.arange(start, min(stop, len(self))))

    def runs(self, ranges: Iterable[range]) -> Iterator[Split]:
        """Read one run of examples after the other, ahead of whoever uses them."""
        return self.stream([range(run.start, min(run.stop, len(self))) for run in ranges])

    def stream(self, batches: Iterable[Sequence[int]]) -> Iterator[Split]:
        """Read one batch after the other, ahead of whoever uses them; there may be no end of them."""
        loader: DataLoader[Any] = DataLoader(
            self.dataset,  # type: ignore[arg-type] # it need not be torch's own class
            batch_sampler=batches,  # type: ignore[arg-type] # nor this one
            num_workers=self.readers,
            prefetch_factor=_BATCHES_AHEAD if self.readers else None,
            multiprocessing_context=_HOW_TO_START if self.readers else None,
            worker_init_fn=_leave_signals_to_the_training,
            pin_memory=self.device.type == "cuda",
        )
        return map(self._used, loader)

    def only(self, indices: Tensor) -> "StoredSplit":
        """Leave the other examples out."""
        return StoredSplit(Subset(self.dataset, indices.tolist()), self.readers, self.device)  # type: ignore[arg-type]

    def to(self, device: torch.device) -> "StoredSplit":
        """Move examples to a device once they are read."""
        return StoredSplit(self.dataset, self.readers, device)

    def _used(self, batch: Any) -> Split:
        inputs, targets = batch
        return Split(inputs, targets).to(self.device)


def _leave_signals_to_the_training(reader: int) -> None:
    """Read on when the whole job is asked to stop: the training finishes its step first."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
