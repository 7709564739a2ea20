"""Examples of different lengths, put together by a hook. Run it with `scalewise train examples/ragged.py:Sums`."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

import scalewise as sw


class RunningSum(nn.Module):
    """Reads numbers one after the other and says their sum so far."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.answer = nn.GRU(1, 24, batch_first=True), nn.Linear(24, 1)

    def forward(self, numbers: Tensor) -> Tensor:
        """Return an answer at every place."""
        states, _ = self.reader(numbers.unsqueeze(2))
        answers: Tensor = self.answer(states).squeeze(2)
        return answers


class Sums(sw.Workload):
    """Lists of 3 to 12 numbers. A list of examples is a data set like any other."""

    defaults = {
        "recipe": {"global_batch": 32, "optimizer": "adamw", "learning_rate": 0.01},
        "stop": {"target": "val/squared_error<0.05", "epochs": 40},
    }
    measures = (sw.Metric("squared_error"),)

    def data(self) -> dict[str, list[tuple[Tensor, Tensor]]]:
        """Make the lists; the same ones every time."""
        random = torch.Generator().manual_seed(0)
        lengths = torch.randint(3, 13, (600,), generator=random).tolist()
        lists = [torch.randn(length, generator=random) for length in lengths]
        examples = [(numbers, numbers.cumsum(dim=0)) for numbers in lists]
        return {"train": examples[:500], "val": examples[500:]}

    def collate(self, examples: list[Any]) -> tuple[Tensor, dict[str, Tensor]]:
        """Pad to the longest, and remember which places count."""
        numbers, sums = map(list, zip(*examples, strict=True))
        counts = pad_sequence([torch.ones(len(each)) for each in sums], batch_first=True)
        return pad_sequence(numbers, batch_first=True), {"sums": pad_sequence(sums, batch_first=True), "counts": counts}

    def model(self) -> nn.Module:
        """Make the network."""
        return RunningSum()

    def loss(self, outputs: Tensor, targets: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return for each list the sum over its places, and how many there are."""
        errors = (outputs - targets["sums"]).square() * targets["counts"]
        return errors.sum(dim=1), targets["counts"].sum(dim=1)

    def metrics(self, outputs: Tensor, targets: dict[str, Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
        """Return the squared error, as a mean over places."""
        return {"squared_error": self.loss(outputs, targets)}
