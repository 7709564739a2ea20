"""Looks at a workload's model before anything is done to it, and refuses what could not be trained or saved."""

from collections.abc import Iterator
from itertools import chain, pairwise

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from scalewise.errors import WorkloadError


def admitted(model: object) -> nn.Module:
    """Return the model if it can be trained and saved."""
    if not isinstance(model, nn.Module):
        raise WorkloadError(f"the workload's model() must return a torch.nn.Module, not a {type(model).__name__}")
    for name, tensor in chain(model.named_parameters(), model.named_buffers()):
        _check_has_values(name, tensor)
    trainable = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    if not trainable:
        raise WorkloadError("the workload's model has no trainable parameters")
    if odd := [name for name, parameter in trainable.items() if parameter.dtype != torch.float32]:
        raise WorkloadError(f"the workload's model must have float32 parameters; {odd[0]} has not")
    for first, second in _overlapping(trainable):
        raise WorkloadError(
            f"the parameters {first!r} and {second!r} of the workload's model share memory, but are two parameters: "
            "share one, e.g. by decoder.weight = encoder.weight"
        )
    _check_dense_gradients(model)
    _check_saved(model, trainable)
    return model


def _check_has_values(name: str, tensor: Tensor) -> None:
    if is_lazy(tensor):
        raise WorkloadError(
            f"{name!r} of the workload's model gets its shape from the first inputs: give its layer a size instead, or "
            "put inputs of that shape through the network in model()"
        )
    if tensor.device.type == "meta":
        raise WorkloadError(
            f"{name!r} of the workload's model is on the meta device, where it has no values: make it on the CPU"
        )


def _overlapping(parameters: dict[str, nn.Parameter]) -> Iterator[tuple[str, str]]:
    """Find parameters that lie in the same memory: each gets memory of its own, which would part them."""
    places = sorted((*_place(parameter), name) for name, parameter in parameters.items() if parameter.numel())
    for (_, end, first), (start, _, second) in pairwise(places):
        if start < end:
            yield first, second


def _place(tensor: Tensor) -> tuple[int, int]:
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size()


def _check_dense_gradients(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if isinstance(module, nn.Embedding | nn.EmbeddingBag) and module.sparse:
            raise WorkloadError(
                f"the layer {name!r} of the workload's model has sparse gradients, which cannot be added up over "
                "microbatches and workers: make it with sparse=False"
            )


def _check_saved(model: nn.Module, trainable: dict[str, nn.Parameter]) -> None:
    """Refuse a model whose weights could not be written, or not be read back where they are."""
    state = model.state_dict()
    if odd := [name for name, value in state.items() if not isinstance(value, Tensor)]:
        raise WorkloadError(
            f"the workload's model keeps {odd[0]!r} in its state_dict(), which is no tensor and cannot be saved"
        )
    saved = {value.data_ptr() for value in state.values()}
    if lost := [name for name, parameter in trainable.items() if parameter.data_ptr() not in saved]:
        raise WorkloadError(
            f"the workload's model leaves its parameter {lost[0]!r} out of its state_dict(), or gives a copy of it: "
            "what was trained could not be saved and resumed"
        )
