"""`sw.loop`: the steps of a training one by one, in this process, without a folder."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scalewise.api.given_workload import AnyWorkload, named
from scalewise.api.settings import Recipe, Settings, Stop, overrides, recipe_name
from scalewise.requests import TrainRequest

if TYPE_CHECKING:
    from torch import nn

    from scalewise.loop.loop import EvalResult, StepResult, Stopped
    from scalewise.run.alone import Alone


class Steps:
    """The results of a training as they come; between two of them this process is as it was before."""

    def __init__(self, training: "Alone") -> None:
        self._training, self._results = training, training.results()

    def __iter__(self) -> "Iterator[StepResult | EvalResult | Stopped]":
        return self

    def __next__(self) -> "StepResult | EvalResult | Stopped":
        return next(self._results)

    def model(self) -> "nn.Module":
        """Return the workload's own network with the weights as they are now, ready to evaluate."""
        return self._training.model()

    def __repr__(self) -> str:
        return f"<Steps: {self._training.loop.parts.state.step:,} taken>"


def loop(
    workload: AnyWorkload, *, recipe: Recipe = None, stop: Stop = None, settings: Settings = (), exact: bool = False
) -> Steps:
    """Train in this process, and yield a `StepResult` after each step, an `EvalResult` after each evaluation.

    The last result is `Stopped`. Nothing is written: `model()` of what is returned is the network as it is by then. It
    becomes the model that `sw.train` makes by the same recipe.

    >>> import scalewise as sw
    >>> steps = sw.loop("digits/fc_32", recipe="linear+clipping", stop=dict(steps=3))
    >>> [type(result).__name__ for result in steps]
    ['EvalResult', 'StepResult', 'StepResult', 'StepResult', 'EvalResult', 'Stopped']
    >>> steps
    <Steps: 3 taken>
    """
    from scalewise.run.alone import Alone  # and torch

    with named(workload) as name:
        request = TrainRequest(
            workload=name, recipe=recipe_name(recipe), overrides=overrides(recipe, stop, settings), exact=exact
        )
        return Steps(Alone.of(request))
