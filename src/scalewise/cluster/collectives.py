"""Messages between workers; a single worker sends none, and starts no backend."""

import datetime
import functools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from scalewise.cluster.world import World
from scalewise.errors import ConfigError, ExitCode, PeerLost

P = ParamSpec("P")
T = TypeVar("T")


def choose_device(preference: str, world: World) -> torch.device:
    """Choose the device of this worker."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if preference == "cuda" and gpus < world.local_workers:
        raise ConfigError(
            f"cluster.device=cuda needs a GPU per worker: {world.local_workers} workers, {gpus} GPUs here"
        )
    if preference == "cpu" or gpus < world.local_workers:
        return torch.device("cpu")
    torch.cuda.set_device(world.local_rank)
    return torch.device("cuda", world.local_rank)


def gpu_name(device: torch.device) -> str | None:
    """Name the GPU that a device is; None for anything else."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None


def make_deterministic(device: torch.device) -> None:
    """Let kernels on this device give the same bits every time; on a CPU with one thread they always do."""
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what cuBLAS asks for
        torch.use_deterministic_algorithms(True)


@contextmanager
def joined(world: World, device: torch.device, timeout_seconds: float) -> Iterator[None]:
    """Join the group of workers for the length of a `with` block."""
    if world.launched:
        end_with_parent(world.launcher or os.getppid())
    if world.workers == 1:
        yield
        return
    if world.on_one_machine:  # what the workers say to each other stays inside
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    _as_peer_lost(_join)(
        world, "nccl" if device.type == "cuda" else "gloo", datetime.timedelta(seconds=timeout_seconds)
    )
    yield
    # Only after success: a worker that fails must print the reason before the others notice that it is gone.
    dist.destroy_process_group()


def _join(world: World, backend: str, timeout: datetime.timedelta) -> None:
    if world.meeting is None:
        dist.init_process_group(backend, timeout=timeout)
    else:
        store = dist.FileStore(str(world.meeting), world.workers)  # type: ignore[attr-defined]
        dist.init_process_group(backend, timeout=timeout, store=store, rank=world.rank, world_size=world.workers)


def end_with_parent(launcher: int, poll_seconds: float = 0.2) -> None:
    """End this process soon after its launcher has ended, for whatever reason."""

    def watch() -> None:
        while os.getppid() == launcher:
            threading.Event().wait(poll_seconds)
        os._exit(ExitCode.PEER_LOST)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def _as_peer_lost(collective: Callable[P, T]) -> Callable[P, T]:
    """Raise `PeerLost` if the backend reports a broken connection."""

    @functools.wraps(collective)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return collective(*args, **kwargs)
        except RuntimeError as error:  # what gloo, NCCL and the store all raise
            raise PeerLost(_without_source(str(error))) from error

    return call


def _without_source(message: str) -> str:
    """Drop the backend's source file from its message.

    >>> _without_source("[/build/gloo/pair.cc:547] Connection closed by peer [127.0.0.1]:1")
    'Connection closed by peer [127.0.0.1]:1'
    """
    first_line = message.partition("\n")[0]
    return first_line.partition("] ")[2] if first_line.startswith("[/") else first_line


@_as_peer_lost
def sum_over_workers(tensor: Tensor) -> None:
    """Replace the tensor by its sum over all workers."""
    if dist.is_initialized():
        dist.all_reduce(tensor)


@_as_peer_lost
def start_sum_over_workers(tensor: Tensor) -> Callable[[], object]:
    """Begin to replace the tensor by its sum over all workers; return a function that waits for it."""
    return _as_peer_lost(dist.all_reduce(tensor, async_op=True).wait)


@_as_peer_lost
def exchange_slices(sent: list[Tensor], received_lengths: list[int]) -> list[Tensor]:
    """Send the i-th tensor to worker i; return what every worker sent here, in the order of workers."""
    if not dist.is_initialized():
        return sent
    joined_lengths = [len(part) for part in sent]
    received = sent[0].new_empty(sum(received_lengths))
    dist.all_to_all_single(received, torch.cat(sent), received_lengths, joined_lengths)
    return list(received.split(received_lengths))


@_as_peer_lost
def gather_slices(whole: Tensor, own: Tensor) -> None:
    """Fill `whole` with the equally long slices of all workers, in the order of workers."""
    if dist.is_initialized():
        dist.all_gather(list(whole.chunk(dist.get_world_size())), own)
    else:
        whole.copy_(own)


@_as_peer_lost
def broadcast(tensor: Tensor) -> None:
    """Replace the tensor by the chief's."""
    if dist.is_initialized():
        dist.broadcast(tensor, src=0)


@_as_peer_lost
def broadcast_from_chief(value: T) -> T:
    """Return the chief's value, which must be one that JSON can hold."""
    if not dist.is_initialized():
        return value
    own = _encoded(value)
    length = own.new_tensor([len(own)], dtype=torch.int64)
    dist.broadcast(length, src=0)
    message = own if dist.get_rank() == 0 else own.new_empty(int(length))
    dist.broadcast(message, src=0)
    decoded: T = _decoded(message)
    return decoded


@_as_peer_lost
def gather_values(value: Any) -> list[Any]:
    """Return the plain values of all workers, in the order of workers."""
    if not dist.is_initialized():
        return [value]
    own = _encoded(value)
    lengths = [own.new_zeros(1, dtype=torch.int64) for _ in range(dist.get_world_size())]
    dist.all_gather(lengths, own.new_tensor([len(own)], dtype=torch.int64))
    longest = max(map(int, lengths))
    messages = [own.new_empty(longest) for _ in lengths]
    dist.all_gather(messages, torch.nn.functional.pad(own, (0, longest - len(own))))
    return [_decoded(message[: int(length)]) for message, length in zip(messages, lengths, strict=True)]


def _encoded(value: Any) -> Tensor:
    """Turn a value into bytes as JSON; a pickle would run code that somebody else sends to the socket."""
    device = torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")
    return torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8).to(device)


def _decoded(message: Tensor) -> Any:
    return json.loads(bytes(message.tolist()))


@_as_peer_lost
def wait_for_all() -> None:
    """Return when every worker has got here."""
    if dist.is_initialized():
        dist.barrier()
