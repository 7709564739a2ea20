"""What every contender trains: the same examples, network and optimizer settings."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.optim import SGD
from torch.utils.data import DataLoader, TensorDataset

from scalewise.config import load_config
from scalewise.data.splits import Split
from scalewise.recipe.resolve import ResolvedConfig, resolve
from scalewise.seeds import Purpose, derive
from scalewise.workloads import Workload
from scalewise.workloads.find import find_workload

_NEVER = 1_000_000_000


@dataclass(frozen=True)
class Task:
    """One workload at one global batch."""

    config: ResolvedConfig
    workload: Workload
    examples: Split

    @property
    def global_batch(self) -> int:
        return self.config.recipe.global_batch

    def model(self) -> nn.Module:
        """Build the network with the initial weights that scalewise gives it."""
        torch.manual_seed(derive(self.config.recipe.seed, Purpose.INITIAL_WEIGHTS))
        return self.workload.model()

    def optimizer(self, model: nn.Module, fused: bool | None = None) -> SGD:
        recipe = self.config.recipe
        return SGD(model.parameters(), recipe.learning_rate, momentum=recipe.momentum, nesterov=True, fused=fused)

    def loader(self) -> DataLoader[tuple[Tensor, ...]]:
        # Without the short last batch, so that a step is a whole global batch for everybody.
        dataset = TensorDataset(self.examples.inputs, self.examples.targets)
        return DataLoader(dataset, self.global_batch, shuffle=True, drop_last=True)

    def batch_indices(self) -> Iterator[Tensor]:
        """Go through the examples in a new order each epoch, whole batches only, for ever."""
        whole_batches = len(self.examples) // self.global_batch * self.global_batch
        while True:
            yield from torch.randperm(len(self.examples))[:whole_batches].split(self.global_batch)


def make_task(workload_name: str, global_batch: int) -> Task:
    """Set a workload up to be trained for ever, without evaluations, each global batch in one piece."""
    workload = find_workload(workload_name)
    overrides = [
        f"recipe.global_batch={global_batch}",
        f"recipe.microbatch={global_batch}",
        "stop.target=null",
        "stop.epochs=null",
        f"stop.steps={_NEVER}",
        f"evaluate.every_steps={_NEVER}",
    ]
    config = load_config(workload_name, workload.defaults, None, overrides)
    return Task(resolve(config), workload, workload.data()["train"])
