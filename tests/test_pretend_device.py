"""Whole steps on a device other than the CPU, where one tensor in the wrong place ends training; see pretend_device.py.

A process that has met the device has it for good, which would change what other tests see of torch. So every test
computes in a process of its own: only there is the device imported, and only plain values come back.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

import scalewise
from processes import NETS, in_own_process
from scalewise.cluster.world import World
from scalewise.config import load_config
from scalewise.loop.loop import EvalResult, Loop, StepResult, Stopped
from scalewise.loop.state import TrainingState
from scalewise.loop.step import take_step
from scalewise.loop.votes import Votes
from scalewise.optim.gradients import Gradients
from scalewise.recipe.resolve import resolve
from scalewise.record.checkpoints import Checkpoints
from scalewise.record.results.checkpoint import CheckpointNumbers
from scalewise.run.build import build_loop
from scalewise.storage import LocalStore
from scalewise.workloads.find import find_workload

DENSE, NORMALISED, RESIDUAL = "digits/fc_64_64", f"{NETS}:BatchNorm", f"{NETS}:Residual"
TWO_STEPS = ("stop.steps=2", "stop.target=null", "recipe.weight_decay=0.01")
TWO_MICROBATCHES = ("recipe.global_batch=28", "recipe.microbatch=16")
RECIPES = {
    **{name: (DENSE, f"recipe.optimizer={name}") for name in ("sgd", "momentum", "nesterov_momentum", "rmsprop")},
    **{name: (DENSE, f"recipe.optimizer={name}") for name in ("adamw", "lars", "lamb")},
    "lamb without decay": (DENSE, "recipe.optimizer=lamb", "recipe.weight_decay=0"),
    "batch norm": (NORMALISED,),
    "ghost batches": (NORMALISED, "recipe.ghost_batch=4"),
    "residual blocks": (RESIDUAL, "recipe.zero_init_residual=true", "recipe.label_smoothing=0.1"),
    "fp16": (DENSE, "recipe.precision=fp16", "recipe.loss_scale=1024"),
    "fp16 of filters": (RESIDUAL, "recipe.precision=fp16"),
    "bf16": (RESIDUAL, "recipe.precision=bf16"),
    "exact": (NORMALISED, "recipe.exact=true"),
    "adasum": (NORMALISED, "recipe.combine=adasum"),
    "clipping": (DENSE, "recipe.clip_norm=0.1"),
    "averaging": (NORMALISED, "recipe.average_half_life=1 epochs"),
    "noise of every step": (DENSE, "noise_scale.every_steps=1"),
    "noise of every other step": (NORMALISED, "noise_scale.every_steps=2"),
    "augmentation": (RESIDUAL, "recipe.augmentation=flip_and_crop", "recipe.image_sizes=[['0 epochs', 6]]"),
}

Counts = Mapping[tuple[str, str], int]
"""How often something happened, by operation and line of scalewise."""


class Trained(NamedTuple):
    """What two steps, and the evaluations before and after them, come to on either device."""

    results: list[StepResult | EvalResult | Stopped]
    cpu_results: list[StepResult | EvalResult | Stopped]
    bits: dict[str, bytes]
    """Of every tensor that a checkpoint has."""
    cpu_bits: dict[str, bytes]
    waits: Counts
    operations: Counts


def make_loop(device: str, workload: str, *overrides: str) -> Loop:
    torch.set_num_threads(1)
    found = find_workload(workload)
    config = load_config(workload, found.defaults, None, [*TWO_STEPS, *TWO_MICROBATCHES, *overrides])
    return build_loop(resolve(config), found, World(), torch.device(device), lambda: False)


def bits_of(state: TrainingState) -> dict[str, bytes]:
    return {name: tensor.cpu().contiguous().numpy().tobytes() for name, tensor in state.tensors().items()}


def train(workload: str, *overrides: str) -> Trained:
    """Train on the CPU and on the device."""
    from pretend_device import PretendDevice

    on_cpu = make_loop("cpu", workload, *overrides)
    cpu_results = list(on_cpu.run())
    with PretendDevice() as pretend:
        loop = make_loop("pretend", workload, *overrides)
        results = list(loop.run())
        bits = bits_of(loop.parts.state)
    return Trained(results, cpu_results, bits, bits_of(on_cpu.parts.state), pretend.waits, pretend.operations)


@pytest.mark.parametrize("recipe", RECIPES)
def test_two_steps_give_the_bits_of_the_cpu(recipe: str) -> None:
    trained = in_own_process(train, *RECIPES[recipe])
    assert trained.results == trained.cpu_results
    assert [name for name, bits in trained.bits.items() if bits != trained.cpu_bits[name]] == []
    steps = [result for result in trained.results if isinstance(result, StepResult)]
    assert [step.skipped for step in steps] == [False, False]
    # A tensor of the CPU among those of the device, even a number, would copy one after the other and wait for each.
    assert [event for event in trained.waits if event[0].startswith("_foreach_")] == []


def vote() -> list[Votes]:
    """Take a step with a vote and one without."""
    from pretend_device import PretendDevice

    with PretendDevice():
        parts = make_loop("pretend", DENSE).parts
        return [take_step(parts, functools.partial(Votes, interrupt=vote)).votes for vote in (True, False)]


def test_votes_count_in_their_own_step_only() -> None:
    assert in_own_process(vote) == [Votes(interrupt=True), Votes()]


def resume(folder: Path, workload: str, *overrides: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Take a step, save it, take the second one in another loop that loads it; take both on the CPU."""
    from pretend_device import PretendDevice

    on_cpu = make_loop("cpu", workload, *overrides).parts
    for _ in range(2):
        take_step(on_cpu, Votes)
    with PretendDevice():
        begun, resumed = (make_loop("pretend", workload, *overrides).parts for _ in range(2))
        take_step(begun, Votes)
        checkpoints, numbers = Checkpoints(LocalStore(folder)), CheckpointNumbers(workload=workload)
        checkpoints.save(1, "recipe", begun.state.tensors(), numbers, keep=1)
        saved = checkpoints.latest(workload, "recipe", print)
        assert saved is not None
        resumed.state.load(saved.tensors)
        resumed.state.step = saved.step
        resumed.state.broadcast()
        take_step(resumed, Votes)
        return bits_of(resumed.state), bits_of(on_cpu.state)


def test_a_checkpoint_goes_to_the_cpu_and_back(tmp_path: Path) -> None:
    settings = ("recipe.optimizer=adamw", "recipe.precision=fp16", "recipe.average_half_life=1 epochs")
    bits, cpu_bits = in_own_process(resume, tmp_path, NORMALISED, *settings)
    assert [name for name in cpu_bits if bits[name] != cpu_bits[name]] == []


def mix() -> dict[str, str | None]:
    """Mix devices in several ways; return the message of each error, or None."""
    from pretend_device import DEVICE, PretendDevice

    number, pair = torch.ones(()), torch.ones(2)
    with PretendDevice():
        ours = torch.ones(2, device=DEVICE)
        mixtures: dict[str, Callable[[], object]] = {
            "a vector": lambda: ours + pair,
            "a vector among others": lambda: torch._foreach_add_([ours, ours], [ours, pair]),
            "nothing among others": lambda: torch._foreach_add_([ours, ours[:0]], [ours, pair[:0]]),
            "a number to join": lambda: torch.stack([ours[0], number]),
            "a number to write to": lambda: number.add_(ours[0]),
            "a vector to write to": lambda: torch.mul(ours, 2, out=pair),
            "a number": lambda: ours + number,
            "a number among others": lambda: torch._foreach_add_([ours, ours], [ours, number]),
            "indices": lambda: ours[torch.tensor([1, 0])],
            "a copy": lambda: ours.copy_(pair),
        }
        return {name: _message_of(mixture) for name, mixture in mixtures.items()}


def _message_of(mixture: Callable[[], object]) -> str | None:
    try:
        mixture()
    except RuntimeError as error:
        return str(error)
    return None


def test_devices_do_not_mix_but_for_numbers_indices_and_copies() -> None:
    messages = in_own_process(mix)
    assert [name for name, message in messages.items() if message is None] == [
        "a number",
        "a number among others",
        "indices",
        "a copy",
    ]
    assert (
        messages["a vector among others"] == "_foreach_add_: expected all tensors on pretend:0, but one (2,) is on cpu"
    )


def wait() -> dict[str, int]:
    """Do what may make the host wait; return how often each did."""
    from pretend_device import DEVICE, PretendDevice

    pair = torch.ones(2)
    with PretendDevice() as pretend:
        ours = pair.to(DEVICE)
        requests: dict[str, Callable[[], object]] = {
            "arithmetic": lambda: ours * 2 + 1,
            "a view": lambda: ours[0],
            "a copy that is not waited for": lambda: ours.copy_(pair, non_blocking=True),
            "a copy": lambda: pair.to(DEVICE),
            "a copy back": lambda: ours.cpu(),
            "a new number": lambda: torch.tensor(1.0, device=DEVICE),
            "a number": lambda: ours[0].item(),
            "a list": lambda: ours.tolist(),
            "a question": lambda: bool(ours.any()),
            "a mask": lambda: ours[ours > 0],
            "numbers of the CPU among others": lambda: torch._foreach_mul_([ours, ours], [pair[0], pair[1]]),
        }
        counts = {}
        for name, request in requests.items():
            pretend.waits.clear()
            request()
            counts[name] = pretend.waits.total()
    return counts


def test_what_the_host_waits_for_is_counted() -> None:
    assert list(in_own_process(wait).values()) == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2]


def clip() -> Counts:
    from pretend_device import DEVICE, PretendDevice

    pretend = PretendDevice()
    with pretend:
        Gradients(torch.ones(2, device=DEVICE), None, clip_norm=1.0).make_ready()
    return pretend.waits


def test_a_wait_is_counted_with_its_line() -> None:
    ((operation, line),) = in_own_process(clip)
    assert operation == "_local_scalar_dense"
    assert source_of(line) == "norm = float(torch.linalg.vector_norm(self.summed))"


def test_backward_is_counted_with_the_line_that_asked_for_it() -> None:
    """It runs in a thread of its own, which has no line of scalewise."""
    operations = in_own_process(train, DENSE).operations
    lines = {source_of(line) for operation, line in operations if operation == "threshold_backward"}
    asked = {"gradients = torch.autograd.grad", "found = torch.autograd.grad"}  # in a step, and in the probe before it
    assert {line.partition("(")[0] for line in lines} == asked


def source_of(line: str) -> str:
    """Return what stands in a line of scalewise."""
    file, number = line.split(":")
    return (Path(scalewise.__file__).parent / file).read_text().splitlines()[int(number) - 1].strip()
