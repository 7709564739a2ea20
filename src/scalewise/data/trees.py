"""Trees of tensors: what goes into a network, and what its outputs are compared with.

A tree is a tensor, a tuple of trees or a dict of trees. All tensors of a tree have one row per example.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

Tree = Any
"""A tensor, a tuple of trees or a dict of trees: a type that mypy could check would make every workload cast."""


def map_tree(function: Callable[[Tensor], Tensor], tree: Tree) -> Tree:
    """Apply a function to every tensor.

    >>> map_tree(len, {"ids": torch.zeros(3), "pair": (torch.zeros(1), torch.zeros(2))})
    {'ids': 3, 'pair': (1, 2)}
    """
    if isinstance(tree, Tensor):  # first: most trees are one tensor
        return function(tree)
    if isinstance(tree, dict):
        return {name: map_tree(function, part) for name, part in tree.items()}
    return tuple(map_tree(function, part) for part in tree)


def leaves(tree: Tree) -> Iterator[Tensor]:
    """Go through all tensors."""
    if isinstance(tree, Tensor):
        yield tree
    else:
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from leaves(part)


def first_leaf(tree: Tree) -> Tensor:
    """Return the first tensor."""
    return tree if isinstance(tree, Tensor) else next(leaves(tree))


def as_tree(given: Any) -> Tree:
    """Make a tree of what a user gives: arrays, lists of numbers and numbers become tensors.

    >>> as_tree({"a": [1, 2]})
    {'a': tensor([1, 2])}
    """
    if isinstance(given, Tensor):
        return given
    if isinstance(given, Mapping):
        return {name: as_tree(part) for name, part in given.items()}
    is_tuple = isinstance(given, tuple) or (isinstance(given, list) and any(isinstance(part, Tensor) for part in given))
    if is_tuple:
        return tuple(as_tree(part) for part in given)
    return torch.as_tensor(given)


def described(tree: Tree) -> str:
    """Say what a tree is made of, in short.

    >>> described({"ids": torch.zeros(4, 8, dtype=torch.int64), "mask": torch.ones(4, 8)})
    '{ids: int64 (4, 8), mask: float32 (4, 8)}'
    """
    if isinstance(tree, Tensor):
        return f"{str(tree.dtype).removeprefix('torch.')} {tuple(tree.shape)}"
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{name}: {described(part)}' for name, part in tree.items())}}}"
    return f"({', '.join(map(described, tree))})"
