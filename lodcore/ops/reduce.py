"""Sums, means, extremes over axes: those of rows here, those of levels by `sequence_pool` and its relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import tensor_core
from lodcore.errors import DTypeError, ShapeError
from lodcore.ops.common import Array, array_of, kept_in, rows_below, rows_of, with_levels
from lodcore.ops.convert import cast, sized
from lodcore.registry import Dense, Spec, op
from lodcore.symbol import Symbol
from lodcore.tensor import LoDTensor

__all__ = ["reduce_values"]

#: What is computed by name: of values, axes, keepdims, and what is given besides.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "any": np.logical_or.reduce,
    "all": np.logical_and.reduce,
}
INDEX: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}


@op(lod="own")
def reduce_values(x: Dense, name: str, axes: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """Reduce axes of the values.

    Parameters
    ----------
    x : LoDTensor or array_like
    name : str
        "sum", "prod", "mean", "max", "min", "any", "all", "argmax" or "argmin".
    axes : tuple of int, optional
        Of the values, all if not given. Without axis 0, that of the rows, the LoD stays.
    keepdims : bool
        Leave axes of length 1 in their places.
    initial : number, optional
        What "max" and "min" begin with.

    Returns
    -------
    LoDTensor, ndarray or number

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1, 2], [3, 4], [5, 6]], [2, 1])
    >>> lodcore.ops.reduce_values(x, "sum", (1,))
    LoDTensor(2 sequences of lengths 1..2, int64: [[3, 7], [11]])
    >>> lodcore.ops.reduce_values(x, "max", (0,))
    array([5, 6])
    """
    values = array_of("reduce_values", x)
    chosen = _checked(name, axes, values.ndim)
    with_initial = {} if initial is None else {"initial": initial}
    try:
        if name == "mean":
            reduced = _mean(values, chosen, keepdims)
        elif name in INDEX:
            reduced = INDEX[name](values, None if axes is None else chosen[0], keepdims=keepdims)
        else:
            reduced = REDUCTIONS[name](values, axis=chosen, keepdims=keepdims, **with_initial)
    except TypeError as error:
        raise DTypeError(f"{name}: dtype {values.dtype}: {error}") from None
    if isinstance(x, LoDTensor) and x.lod.num_levels and 0 not in chosen:
        return tensor_core.new_tensor(np.ascontiguousarray(reduced), x.lod)
    return reduced


def check_kind(name: str, dtype: np.dtype[Any], ragged: bool) -> None:
    """Raise if values of a dtype cannot be reduced, along ragged axes or all others."""
    if name in ("max", "min", "argmax", "argmin"):
        if ragged and dtype.kind not in "biuf":
            raise DTypeError(f"{name}: x: has dtype {dtype}; along axes of levels real numbers are needed")
    elif dtype.kind not in "biufc":
        raise DTypeError(f"{name}: x: has dtype {dtype}; numbers are needed")
    elif name == "prod" and ragged and dtype.kind == "c":
        raise DTypeError(f"{name}: x: has dtype {dtype}; along axes of levels real numbers are needed")


def cast_for(name: str, x: Any, dtype: Any) -> Any:
    """Convert what is reduced to the dtype in which that is computed."""
    if dtype is None:
        return x
    made = sized(name, dtype)
    needed = "fc" if name in ("mean", "var", "std") else "biufc"
    if x.dtype.kind not in "biufc" or made.kind not in needed:
        raise DTypeError(
            f"{name}: dtype: is {made}; x has {x.dtype}, and {'floats' if needed == 'fc' else 'numbers'} are needed"
        )
    return x if x.dtype == made else cast(x, made)


def count_rows(x: LoDTensor, level: int) -> Any:
    """Count the rows below each sequence of a level, for each column."""
    count = rows_below(x.lod, level).astype(x.dtype)
    wide = np.broadcast_to(count.reshape(-1, *(1,) * (x.values.ndim - 1)), (len(count), *x.values.shape[1:]))
    return with_levels(np.ascontiguousarray(wide), x.lod, level)


def kept_initial(name: str, initial: Any, dtype: np.dtype[Any]) -> Any:
    """Give what a reduction begins with the dtype of its result, which must hold it."""
    if initial is None or isinstance(initial, Symbol):
        return initial
    kept = kept_in(f"{name}: initial", initial, REDUCTIONS[name](np.ones(1, dtype)).dtype)
    if kept.ndim:
        raise DTypeError(f"{name}: initial: has shape {kept.shape}; a number is needed")
    return kept[()]


def _checked(name: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """Check a name, and count axes from the first."""
    if name not in REDUCTIONS and name not in INDEX and name != "mean":
        names = [*REDUCTIONS, "mean", *INDEX]
        raise ValueError(f"reduce_values: name: is {name!r}; one of {', '.join(names)} is needed")
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, tuple) or not all(hasattr(axis, "__index__") for axis in axes):
        raise DTypeError(f"{name}: axes: are {axes!r}; a tuple of integers is needed")
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ShapeError(f"{name}: axis: is {axis}; the values have {ndim} axes")
    chosen = tuple(int(axis) % ndim for axis in axes)
    if len(set(chosen)) < len(chosen) or (name in INDEX and len(chosen) != 1):
        raise ShapeError(f"{name}: axis: is {axes}; {'one axis is' if name in INDEX else 'different axes are'} needed")
    return chosen


def _mean(values: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Average; nan of nothing."""
    if values.size or math.prod(values.shape[axis] for axis in axes):
        return np.mean(values, axis=axes, keepdims=keepdims)
    shape = _shape(values.shape, axes, keepdims)
    return np.full(shape, np.nan, mean_dtype(values.dtype))[()]


def mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Tell the dtype of a mean: float64 for integers."""
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _shape(shape: tuple[Any, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[Any, ...]:
    kept = [1 if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    return tuple(kept)


@reduce_values.infer
def _(x: Spec, name: str, axes: Any, keepdims: bool, initial: Any) -> Spec:
    chosen = _checked(name, axes, len(x.shape))
    if name == "mean":
        dtype = mean_dtype(x.dtype)
    elif name in INDEX:
        dtype = np.dtype(np.intp)
    else:
        try:
            dtype = REDUCTIONS[name](np.ones(1, x.dtype)).dtype
        except TypeError as error:
            raise DTypeError(f"reduce_values: x: has dtype {x.dtype}: {error}") from None
    shape = _shape(x.shape, chosen, keepdims)
    if x.num_levels and 0 not in chosen:
        return Spec(shape, dtype, x.num_levels, LoDTensor)
    return Spec(shape, dtype)


@reduce_values.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    values = np.asarray(rows_of(saved.x))
    axes = _checked(saved.name, saved.axes, values.ndim)
    wide = d.reshape(_shape(values.shape, axes, True))
    if saved.name == "sum":
        return (np.broadcast_to(wide, values.shape),)
    count = math.prod(values.shape[axis] for axis in axes)
    if saved.name == "mean":
        return (np.broadcast_to(wide / max(count, 1), values.shape),)
    front = tuple(axis for axis in range(values.ndim) if axis not in axes)
    flat = values.transpose(*front, *axes).reshape(*[values.shape[axis] for axis in front], count)
    wide = wide.transpose(*front, *axes).reshape(*flat.shape[:-1], 1)
    if saved.name == "prod":
        d_flat = wide * _products_of_others(flat)
    else:
        out = np.asarray(rows_of(saved.out)).reshape(_shape(values.shape, axes, True)).transpose(*front, *axes)
        d_flat = _at_the_first(flat, out.reshape(wide.shape), wide, saved.name)
    moved = [values.shape[axis] for axis in (*front, *axes)]
    return (d_flat.reshape(moved).transpose(np.argsort([*front, *axes])),)


def _products_of_others(values: Array) -> Array:
    """Multiply along the last axis, for each entry all others."""
    before, after = np.ones_like(values), np.ones_like(values)
    before[..., 1:] = np.cumprod(values[..., :-1], -1)
    after[..., :-1] = np.cumprod(values[..., :0:-1], -1)[..., ::-1]
    return before * after


def _at_the_first(values: Array, out: Array, d: Array, name: str) -> Array:
    """Put a gradient where the extreme was found first, and nowhere if what it began with was beyond."""
    d_values = np.zeros_like(values)
    if values.shape[-1]:
        place = INDEX[f"arg{name}"](values, -1, keepdims=True)
        found = np.take_along_axis(values, place, -1)
        np.put_along_axis(d_values, place, np.where((found == out) | np.isnan(found), d, 0), -1)
    return d_values
