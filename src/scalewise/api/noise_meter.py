"""`sw.NoiseMeter`: the gradient noise scale of a training loop that is not ours."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from scalewise.errors import ConfigError
from scalewise.words import counted, interval, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter
    from torch.nn.parallel import DistributedDataParallel

    from scalewise.loop.noise import NoiseScale


class NoiseMeter:
    """Measures the gradient noise scale in any training loop, from the gradients of its microbatches.

    A step of a loop must have several gradients to compare: those of the microbatches that it accumulates, or those of
    the processes that train together. `microbatch` is the number of examples behind each of them, the same for all.
    Call one of these, then `end_step`, before gradients are clipped or set to zero:

    * `add_microbatch(parameters)` after the backward pass of each microbatch, where gradients accumulate;
    * `add(gradient)` for each microbatch, where you have its gradient in your hands;
    * `watch(model)` once, for a model in DistributedDataParallel; `end_step` is then called by all processes.

    Losses may be means over a microbatch or parts of the mean over the batch: only equal factors matter.

    >>> import scalewise as sw, torch
    >>> examples = 1 + torch.randn(64, 8, 4, 10, generator=torch.Generator().manual_seed(0))
    >>> meter = sw.NoiseMeter(microbatch=4)
    >>> for step in examples:  # the gradient of an example is the example: of 10 numbers of variance 1 around 1
    ...     for microbatch in step:
    ...         meter.add(microbatch.mean(dim=0))
    ...     meter.end_step()
    >>> meter
    <NoiseMeter: 1.015 examples (0.964 to 1.069) from 64 steps>
    """

    def __init__(self, microbatch: int) -> None:
        if isinstance(microbatch, bool) or not isinstance(microbatch, int) or microbatch < 1:
            raise ConfigError(f"NoiseMeter(microbatch={microbatch!r}): it should be a number of examples, 1 or more")
        from scalewise.loop.noise import NoiseSums  # and torch

        self.microbatch = microbatch
        self._sums = NoiseSums()
        self._group: Any = None
        self._processes: int | None = None
        """How many gradients a step has, where processes are watched."""
        self._begin_step()

    def _begin_step(self) -> None:
        self._microbatches = 0
        self._squares: list[Tensor] = []
        self._whole: list[Tensor | None] = []
        self._whole_squares: list[Tensor] = []

    def add(self, gradient: "Tensor | Iterable[Tensor]") -> None:
        """Take the gradient of one microbatch: a tensor, or one for each parameter."""
        import torch

        parts = [gradient] if isinstance(gradient, torch.Tensor) else list(gradient)
        self._take([part.detach() for part in parts])

    def add_microbatch(self, parameters: "Iterable[Parameter]") -> None:
        """Take what the last backward pass has added to the gradients of parameters."""
        before = self._whole
        now = [None if one.grad is None else one.grad.detach() for one in parameters]
        before = before or [None] * len(now)
        added = [grad if old is None or grad is None else grad - old for grad, old in zip(now, before, strict=True)]
        self._take(added)

    def _take(self, parts: "list[Tensor | None]") -> None:
        if self._processes is not None:
            raise ConfigError("this NoiseMeter watches a model: it takes no gradients besides")
        self._squares.append(_square(parts))
        self._microbatches += 1
        if not self._whole:
            self._whole = [None if part is None else part.clone() for part in parts]
            return
        if len(self._whole) != len(parts):
            raise ConfigError("the gradients of a step's microbatches must have the same parts")
        for index, part in enumerate(parts):
            old = self._whole[index]
            self._whole[index] = part if old is None else old if part is None else old.add_(part)

    def watch(self, model: "DistributedDataParallel") -> None:
        """Look at the gradients of each process, and at their mean, whenever a model brings them together.

        The meter becomes the model's communication hook, which averages gradients as the model did before.
        """
        import torch
        import torch.distributed as dist
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

        if self._processes is not None or self._squares:
            raise ConfigError("a NoiseMeter watches one model, and nothing else")
        self._group, self._processes = model.process_group, dist.get_world_size(model.process_group)

        def average(
            meter: NoiseMeter,
            bucket: dist.GradBucket,  # type: ignore[name-defined]
        ) -> torch.futures.Future[torch.Tensor]:
            """Average a bucket over processes as the model does by itself, and note it before and after."""
            meter._squares.append(_square([bucket.buffer()]))
            averaged = allreduce_hook(meter._group, bucket)
            return averaged.then(lambda done: meter._note_whole(done.value()))

        model.register_comm_hook(self, average)

    def _note_whole(self, averaged: "Tensor") -> "Tensor":
        self._whole_squares.append(_square([averaged]))
        return averaged

    def end_step(self, loss_scale: float = 1.0) -> None:
        """Make a sample of what was taken since the last step; `loss_scale` is what the loss was multiplied by."""
        import torch

        from scalewise.loop.noise import NoiseMeter as StepMeter
        from scalewise.recipe.batch import Batch

        if not self._squares:
            raise ConfigError("end_step() has no gradients: it comes after those of the microbatches were taken")
        microbatches, squares = self._microbatches, torch.stack(self._squares).sum()
        if self._processes is not None:
            microbatches = self._processes
            squares = self._sum_over_processes(squares) / microbatches**2
        if microbatches < 2:
            raise ConfigError("the noise scale compares the microbatches of a step: a step needs at least two of them")
        whole = torch.stack(self._whole_squares).sum() if self._whole_squares else _square(self._whole)
        batch = Batch(examples=microbatches * self.microbatch, microbatch=self.microbatch)
        meter = StepMeter(every_steps=1, batch=batch, device=torch.device("cpu"))
        sample = meter.sample(0, squares, torch.tensor([math.sqrt(whole)], dtype=torch.float64), loss_scale)
        if sample is not None:  # else something overflowed
            self._sums.add(sample)
        self._begin_step()

    def _sum_over_processes(self, value: "Tensor") -> "Tensor":
        import torch.distributed as dist

        dist.all_reduce(value, group=self._group)
        return value

    @property
    def noise_scale(self) -> "NoiseScale":
        """The noise scale over all steps: `value`, `low`, `high`, `steps`; what the steps leave open is None."""
        return self._sums.estimate()

    def clear(self) -> None:
        """Begin anew: the noise scale grows as the loss falls, so one over a whole training says little."""
        self._sums.clear()
        self._begin_step()

    def __repr__(self) -> str:
        found = self.noise_scale
        ends = interval(number(found.low), number(found.high))
        value = f"{number(found.value) or 'unknown'} examples{ends and f' ({ends})'}"
        return f"<NoiseMeter: {value} from {counted(found.steps, 'step')}>"


def _square(parts: "Iterable[Tensor | None]") -> "Tensor":
    """Return |g|^2 of a gradient in pieces."""
    import torch

    norms = [torch.linalg.vector_norm(part, dtype=torch.float64) for part in parts if part is not None]
    return torch.stack(norms).square().sum() if norms else torch.zeros((), dtype=torch.float64)
