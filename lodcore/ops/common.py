"""What operators share: rows of operands, structures that must agree, broadcasting undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.tensor import DenseTensor, LoDTensor

__all__ = ["Array", "aligned", "check_equal", "rows_of", "shared", "unbroadcast", "with_levels"]

Array = np.ndarray[Any, Any]


def rows_of(x: Any) -> Any:
    """Give the values of a tensor; anything else is its own."""
    if type(x) is np.ndarray:
        return x
    return x.values if isinstance(x, (LoDTensor, DenseTensor)) else x


def check_equal(where: str, lod: LoD, other: LoD, name: str) -> None:
    """Raise if two structures differ, naming the first sequence that does."""
    if lod is other or lod == other:
        return
    if lod.num_levels != other.num_levels:
        raise LoDError(f"{where}: {name}: has {other.num_levels} levels; the first operand has {lod.num_levels}")
    for k in range(lod.num_levels):
        first, second = lod.lengths(k), other.lengths(k)
        if len(first) != len(second):
            raise LoDError(
                f"{where}: {name}: has {len(second)} sequences at level {k}; the first operand has {len(first)}"
            )
        differ = first != second
        if differ.any():
            s = int(np.argmax(differ))
            raise LoDError(
                f"{where}: {name}: sequence {s} of level {k} has length {second[s]}; the first operand's {first[s]}"
            )
    raise LoDError(f"{where}: {name}: has {other.num_rows} rows; the first operand has {lod.num_rows}")


def shared(where: str, function: Callable[..., Any], *operands: Any) -> Any:
    """Compute on the values of operands, whose LoDs must agree, and give the result their LoD."""
    lod = None
    values = []
    for j, x in enumerate(operands):
        if type(x) is LoDTensor:
            if lod is None:
                lod = x.lod
            elif x.lod is not lod:
                check_equal(where, lod, x.lod, f"operand {j}")
            values.append(x.values)
        else:
            values.append(_plain(where, j, x))
    try:
        result = function(*values)
    except ValueError as error:
        shapes = ", ".join(str(np.shape(x)) for x in values)
        raise ShapeError(f"{where}: shapes {shapes}: {error}") from None
    if lod is None:
        return result
    return _on_rows(where, result, lod)


def _plain(where: str, j: int, x: Any) -> Any:
    """Give the values of an operand without a LoD."""
    if type(x) is np.ndarray or isinstance(x, (int, float, complex, np.generic)):
        return x
    if isinstance(x, (list, tuple)):
        try:
            x = np.asarray(x)
        except ValueError:
            raise ShapeError(
                f"{where}: operand {j}: is a list of uneven lists; use lodcore.array for sequences"
            ) from None
        if x.dtype.hasobject:
            raise DTypeError(f"{where}: operand {j}: makes dtype {x.dtype}; numbers are needed")
        return x
    if isinstance(x, (DenseTensor, LoDTensor)):
        return x.values
    if isinstance(x, np.ndarray):
        return x
    if x is None or isinstance(x, (str, bytes)) or not hasattr(x, "__array__"):
        raise DTypeError(f"{where}: operand {j}: is {type(x).__name__}; a tensor or a number is needed")
    return np.asarray(x)


def _on_rows(where: str, result: Any, lod: LoD) -> Any:
    """Give an array with one row a row a LoD."""
    if type(result) is not np.ndarray or result.ndim == 0 or result.shape[0] != lod.num_rows:
        raise ShapeError(
            f"{where}: the result has shape {np.shape(result)}; the structure has {lod.num_rows} rows, against which "
            "dense operands broadcast (use x.per_sequence(v) for one entry a sequence)"
        )
    if not lod.num_levels:
        return result
    return tensor_core.new_tensor(result if result.flags.c_contiguous else np.ascontiguousarray(result), lod)


def aligned(where: str, result: Any, *operands: Any) -> Any:
    """Give a result the LoD that its operands share, if one has any."""
    lod = None
    for j, x in enumerate(operands):
        if isinstance(x, LoDTensor):
            if lod is None:
                lod = x.lod
            else:
                check_equal(where, lod, x.lod, f"operand {j}")
    return result if lod is None else _on_rows(where, result, lod)


def with_levels(values: Array, lod: LoD, count: int) -> Any:
    """Give values the first levels of a LoD; without any they stay an ndarray."""
    return tensor_core.new_tensor(values, lod._part(0, count)) if count else values


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the axes along which its operand was broadcast."""
    gradient = np.asarray(gradient)
    if gradient.shape == shape:
        return gradient
    missing = gradient.ndim - len(shape)
    if missing:
        gradient = gradient.sum(tuple(range(missing)))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    return gradient.sum(stretched, keepdims=True) if stretched else gradient
