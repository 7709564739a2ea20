"""The contender that keeps the loop to itself: Lightning, timed from inside by a callback."""

import logging
import warnings
from time import perf_counter
from typing import Any

import lightning
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback
from torch import Tensor
from torch.optim import Optimizer

from contenders import Contender
from task import Task

# The first batches of a fit pay for its setup, which a long training pays once.
_UNTIMED_STEPS = 3


class _Module(lightning.LightningModule):  # type: ignore[misc, unused-ignore] # where Lightning is not installed
    def __init__(self, task: Task) -> None:
        super().__init__()
        self._model = task.model()
        self._optimizer = task.optimizer(self._model)

    def training_step(self, batch: list[Tensor], batch_index: int) -> Tensor:
        inputs, targets = batch
        return F.cross_entropy(self._model(inputs), targets)

    def configure_optimizers(self) -> Optimizer:
        return self._optimizer  # the same in every fit, so that training goes on


class _Stopwatch(Callback):  # type: ignore[misc, unused-ignore] # where Lightning is not installed
    """Runs from the end of the untimed steps to the end of the last one."""

    def __init__(self) -> None:
        self._started, self.seconds = 0.0, 0.0

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        if trainer.global_step == _UNTIMED_STEPS:
            self._started = perf_counter()
        if trainer.global_step == trainer.max_steps:
            self.seconds = perf_counter() - self._started


class LightningContender(Contender):
    """Lightning's trainer without anything optional."""

    def __init__(self, task: Task) -> None:
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        self._module, self._loader = _Module(task), task.loader()

    def train(self, steps: int) -> float:
        stopwatch = _Stopwatch()
        trainer = lightning.Trainer(
            accelerator="cpu",
            devices=1,
            max_steps=_UNTIMED_STEPS + steps,
            max_epochs=-1,
            barebones=True,  # no logger, checkpoints, progress bar, summary, sanity check or profiler
            callbacks=[stopwatch],
        )
        with warnings.catch_warnings(action="ignore"):  # it advises more loader processes; there is one thread here
            trainer.fit(self._module, self._loader)
        return stopwatch.seconds
