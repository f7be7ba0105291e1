"""What is known of a function of NumPy on dense arrays: how it computes, the Spec of its result, and its gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.operands import Array, unbroadcast

__all__ = [
    "NumpyRule",
    "RuleInputs",
    "Shape",
    "added",
    "along",
    "broadcast",
    "count_of",
    "scattered",
    "unbroadcast",
    "with_size",
]

#: The lengths of axes, None where they are known only when the function runs.
Shape = tuple[int | None, ...]


class RuleInputs(NamedTuple):
    """What a vjp rule is given besides the operands.

    Parameters
    ----------
    d : ndarray, or tuple of ndarray or None
        The cotangent of the result; for several results, one each, None where there is none.
    out : ndarray or tuple of ndarray
        The result.
    needs : tuple of bool
        For each operand, whether its gradient is needed.
    """

    d: Any
    out: Any
    needs: tuple[bool, ...]


class NumpyRule(NamedTuple):
    """A function of NumPy. All of its parts receive the operands and, as keywords, the options of the call.

    Parameters
    ----------
    compute : callable
        Computes on arrays.
    spec : callable
        Takes Specs instead of arrays; returns that of the result, or a tuple of them, and raises for wrong calls.
    vjp : callable, optional
        Takes a RuleInputs before the operands; returns the gradient of a single operand, or a tuple with one entry per
        operand. None if the result has no gradient, as an index has none.
    steps : callable, optional
        How it takes part in the compiled steps of a loop, as `Op.define_steps` says.
    """

    compute: Callable[..., Any]
    spec: Callable[..., Any]
    vjp: Callable[..., Any] | None = None
    steps: Callable[..., Any] | None = None


# -- sizes -------------------------------------------------------------------------------------------------------------


def count_of(sizes: Iterable[int | None]) -> int | None:
    """Multiply lengths; None if one is unknown."""
    known = list(sizes)
    return None if None in known else math.prod(known)  # type: ignore[arg-type]


def added(*sizes: int | None) -> int | None:
    """Add lengths; None if one is unknown."""
    return None if None in sizes else sum(sizes)  # type: ignore[arg-type]


def with_size(shape: Shape, axis: int, size: int | None) -> Shape:
    """Return a shape with another length of one axis."""
    return (*shape[:axis], size, *shape[axis + 1 :])


def broadcast(where: str, *shapes: Shape) -> Shape:
    """Broadcast shapes; a length that is unknown may be 1."""
    ndim = max(map(len, shapes), default=0)
    found: list[int | None] = []
    for sizes in zip(*[(1,) * (ndim - len(shape)) + shape for shape in shapes], strict=True):
        known = {size for size in sizes if size is not None and size != 1}
        if len(known) > 1:
            raise ShapeError(f"{where}: shapes {', '.join(map(str, shapes))}: do not broadcast")
        found.append(known.pop() if known else None if None in sizes else 1)
    return tuple(found)


def of_floats(where: str, name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which NumPy's linear algebra computes: single or double, real or complex."""
    if dtype.kind not in "biufc" or dtype.char in "egG":
        raise DTypeError(f"{where}: {name}: has dtype {dtype}; float32, float64, complex64 or complex128 is needed")
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


# -- gradients of what is moved ----------------------------------------------------------------------------------------


def along(axis: int, index: Any) -> tuple[Any, ...]:
    """Return the key that indexes one axis."""
    return (*[slice(None)] * axis, index)


def scattered(d: Array, index: Array, axis: int, shape: tuple[int, ...]) -> Array:
    """Add up values that an index took along an axis, some of them repeatedly."""
    made = np.zeros(shape, d.dtype)
    np.add.at(made, along(axis, index.copy()), d)
    return made
