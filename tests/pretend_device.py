"""A pretend device for machines without a GPU: it computes on the CPU and is as strict about devices as CUDA.

Its tensors wrap tensors of the CPU. As on CUDA, an operation refuses to mix the two, also inside the lists of a
multi-tensor operation. What makes the host wait for the device, and what the device is asked to do, is counted by the
line of scalewise that caused it.

    with PretendDevice() as pretend:
        loop = build_loop(config, workload, World(), DEVICE, lambda: False)
    pretend.waits, pretend.operations

A process that imports this file has the device for good, because torch cannot forget a backend: tests import it in
processes of their own. It uses parts of torch that are private or experimental (a backend in Python, wrapper tensors,
dispatch modes), which a new version of torch may change.

What it does not pretend: collectives; streams, events and pinned memory; kernels that run later than they are asked
for, and so races; a random generator of its own; compilation; memory that runs out. An operation counts once, however
many kernels it launches; views and empty memory are free. Autocast lowers dense layers and convolutions, nothing else.
What changes the shape of a tensor in place is refused.
"""

import functools
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

import scalewise

_SOURCE = f"{Path(scalewise.__file__).parent}/"
_FREE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
_INDEXING = {"index", "index_put_"}
_READ_BY_THE_HOST = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}


class _Backend(_DummyBackendModule):
    """What torch looks for in `torch.pretend`."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]


_setup_privateuseone_for_python_backend("pretend", _Backend())
DEVICE = torch.device("pretend", 0)


class PretendTensor(Tensor):
    """A tensor of the device: torch knows its shape, a tensor of the CPU has its numbers."""

    on_cpu: Tensor

    @staticmethod
    def __new__(cls, on_cpu: Tensor) -> "PretendTensor":
        strides, offset = on_cpu.stride(), on_cpu.storage_offset()
        return Tensor._make_wrapper_subclass(
            cls, on_cpu.shape, strides=strides, storage_offset=offset, dtype=on_cpu.dtype, device=DEVICE
        )

    def __init__(self, on_cpu: Tensor) -> None:
        self.on_cpu = on_cpu

    def __repr__(self) -> str:  # type: ignore[override]
        return f"pretend {self.on_cpu!r}"

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, other: Tensor) -> None:
        assert isinstance(other, PretendTensor)
        Tensor.data.__set__(self, other)  # type: ignore[attr-defined] # sets the shape that torch knows
        self.on_cpu = other.on_cpu

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        """Let `Module.to` swap whole tensors, as it does with wrappers that can be taken apart and put together."""
        return ["on_cpu"], None

    @staticmethod
    def __tensor_unflatten__(inner: Mapping[str, Tensor], context: None, size: object, stride: object) -> Tensor:
        return PretendTensor(inner["on_cpu"])

    @classmethod
    def __torch_dispatch__(cls, operation: Any, *_: object, **__: object) -> Any:  # type: ignore[override]
        raise RuntimeError(f"{operation} on the pretend device outside of `with PretendDevice()`")


class PretendDevice(TorchDispatchMode):
    """Lets the device compute inside a `with` block, and counts by operation and line."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.waits: Counter[tuple[str, str]] = Counter()
        """How often the host waited for the device."""
        self.operations: Counter[tuple[str, str]] = Counter()
        """How often the device was asked to do something."""

    def __torch_dispatch__(
        self, operation: Any, types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        call = _Call(operation, args, kwargs or {})
        if not call.ours and not call.makes_ours:
            return operation(*args, **(kwargs or {}))
        call.refuse_mixture()
        event = (call.name, _line())
        self.waits.update([event] * call.waits())
        self.operations.update([] if operation.is_view or call.name in _FREE else [event])
        return call.result()


@dataclass(frozen=True)
class _Call:
    """An operation and what it is given."""

    operation: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.operation.overloadpacket.__name__)

    @functools.cached_property
    def ours(self) -> list[PretendTensor]:
        return [leaf for leaf in tree_leaves((self.args, self.kwargs)) if isinstance(leaf, PretendTensor)]

    @functools.cached_property
    def others(self) -> list[Tensor]:
        leaves = tree_leaves((self.args, self.kwargs))
        return [leaf for leaf in leaves if isinstance(leaf, Tensor) and not isinstance(leaf, PretendTensor)]

    @property
    def makes_ours(self) -> bool:
        """Whether the result is on the device."""
        device = self.kwargs.get("device")
        return bool(self.ours) if device is None else device.type == DEVICE.type

    def refuse_mixture(self) -> None:
        """Do as CUDA does: copies go both ways; indices, and the numbers of arithmetic, may come from the CPU."""
        if not self.ours or self.name in {"copy_", "_foreach_copy_", *_INDEXING}:
            return
        multi_tensor, filling = self.name.startswith("_foreach_"), self.name in {"fill_", "masked_fill_"}
        takes_numbers = multi_tensor or filling or torch.Tag.pointwise in self.operation.tags
        written = tree_leaves((self.args[:1] if self.name.endswith("_") else (), self.kwargs.get("out")))
        for tensor in self.others:
            if tensor.ndim > 0 or not takes_numbers or any(tensor is target for target in written):
                shape = tuple(tensor.shape)
                raise RuntimeError(f"{self.name}: expected all tensors on {DEVICE}, but one {shape} is on cpu")

    def waits(self) -> int:
        """How often the host waits."""
        if self.name in {"copy_", "_to_copy"}:
            crosses = bool(self.others) or not self.makes_ours
            return int(crosses and not (self.kwargs.get("non_blocking") or True in self.args[2:3]))
        if self.name.startswith("_foreach_"):
            return len(self.others)  # one of them after the other, the slow way
        if self.name in _INDEXING:
            masks = [leaf for leaf in tree_leaves(self.args[1]) if leaf is not None and leaf.dtype == torch.bool]
            return len(self.others) + len(masks)
        return int(not _READ_BY_THE_HOST.isdisjoint(self.operation.tags))

    def result(self) -> Any:
        """Compute on the CPU."""
        args, kwargs = tree_map_only(PretendTensor, lambda ours: ours.on_cpu, (list(self.args), dict(self.kwargs)))
        if "device" in kwargs:
            kwargs["device"] = torch.device("cpu")
        result = self.operation(*args, **kwargs)
        return tree_map_only(Tensor, self._wrapped, result) if self.makes_ours else result

    def _wrapped(self, result: Tensor) -> PretendTensor:
        """Return the tensor that an operation changed in place, or a new one."""
        given = next((ours for ours in self.ours if ours.on_cpu is result), None)
        if given is not None and given.shape != result.shape:
            raise NotImplementedError(f"{self.name} changes a shape in place, which the pretend device cannot")
        return PretendTensor(result) if given is None else given


def _line() -> str:
    """Find the line of scalewise that runs. Backward has a thread of its own, for which the main thread waits."""
    frames = sys._current_frames()
    for thread in (threading.get_ident(), threading.main_thread().ident):
        frame = frames.get(thread or 0)
        while frame is not None:
            if frame.f_code.co_filename.startswith(_SOURCE):
                return f"{frame.f_code.co_filename.removeprefix(_SOURCE)}:{frame.f_lineno}"
            frame = frame.f_back
    return "not in scalewise"


# `torch.tensor(number, device=...)` does not ask the mode: it wants memory of the device, and copies the number there.
def _empty_strided(size: Sequence[int], stride: Sequence[int], dtype: torch.dtype | None = None, **_: object) -> Tensor:
    return PretendTensor(torch.empty_strided(size, stride, dtype=dtype))


def _copy(target: Tensor, source: Tensor, non_blocking: bool = False) -> Any:
    mode = _get_current_dispatch_mode()
    assert isinstance(mode, PretendDevice), "the pretend device outside of `with PretendDevice()`"
    return mode.__torch_dispatch__(torch.ops.aten.copy_.default, (), (target, source, non_blocking))


def _lowered(operation: Any, *args: Any) -> Any:
    """Compute with narrow numbers, as autocast does."""
    dtype = torch.get_autocast_dtype(DEVICE.type)
    with torch.autocast(DEVICE.type, enabled=False):
        return operation(*tree_map_only(Tensor, lambda tensor: tensor.to(dtype), args))


_kernels, _fallbacks = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")
_kernels.impl("empty_strided", _empty_strided, "PrivateUse1")
_kernels.impl("copy_", _copy, "PrivateUse1")
for _name in ("linear", "conv1d", "conv2d", "conv3d"):
    _kernels.impl(_name, functools.partial(_lowered, getattr(torch.ops.aten, _name)), "AutocastPrivateUse1")
_fallbacks.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
