"""Sums, means and extremes over axes of rows; for those over levels see `sequence_pool` and its relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.caller import named_caller
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import as_integer
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.lod_rules import computed, levels_of
from lodcore.operators.operands import Array, kept_in, rows_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense
from lodcore.ops.elementwise.convert import cast, sized
from lodcore.tensors import tensor_core
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["reduce_values"]

#: The functions by name, of values, axes, keepdims, and further arguments.
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "any": np.logical_or.reduce,
    "all": np.logical_and.reduce,
}
INDEX: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}


def _levels_left(x: Any, axes: Any) -> int:
    """Count the levels of the result: all of them, unless the rows are reduced."""
    ndim = x.values.ndim if isinstance(x, LoDTensor) else len(x.shape)
    kept = levels_of(x) and axes is not None and 0 not in [axis % ndim for axis in axes]
    return levels_of(x) if kept else 0


@operator(x=Dense, lod_rule=computed("that of `x`, unless axis 0 is reduced", _levels_left))
def reduce_values(
    x: Any, name: str, axes: Any = None, keepdims: bool = False, initial: Any = None, empty: Any = None
) -> Any:
    """Reduce axes of the values.

    Parameters
    ----------
    x : LoDTensor or array_like
    name : str
        "sum", "prod", "mean", "max", "min", "any", "all", "argmax" or "argmin".
    axes : tuple of int, optional
        The axes of the values; by default all. The LoD is kept unless axis 0, that of the rows, is reduced.
    keepdims : bool
        Whether to keep the reduced axes with length 1.
    initial : number, optional
        The starting value of "max" and "min".
    empty : number, optional
        The result for no values, instead of an error or the neutral element.

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
    values = dense_of("reduce_values: x", x, levels=True)
    chosen = _checked(name, axes, values.ndim)
    if isinstance(keepdims, np.bool_):  # which the reductions of NumPy refuse
        keepdims = bool(keepdims)
    nothing = not values.size and not math.prod([values.shape[axis] for axis in chosen])
    if empty is not None:
        empty = kept_empty(name, empty, values.dtype)
    if nothing and empty is None and initial is None and _raises(name, values.shape, chosen):
        needed = "give empty=" if name in INDEX else "give empty=, or an initial value"
        raise ValueError(f"{name}: x: has no values to reduce, its shape is {values.shape}; {needed}")
    try:
        if nothing and empty is not None:
            reduced: Any = np.full(_shape(values.shape, chosen, keepdims), empty, empty.dtype)[()]
        elif name in INDEX:
            reduced = INDEX[name](values, None if axes is None else chosen[0], keepdims=keepdims)
        else:
            with named_caller():
                if name == "mean":
                    reduced = _mean(values, chosen, keepdims)
                elif initial is None:
                    reduced = REDUCTIONS[name](values, chosen, None, None, keepdims)
                else:
                    reduced = REDUCTIONS[name](values, chosen, None, None, keepdims, initial)
    except TypeError as error:
        raise _without(name, values.dtype, error) from None
    if isinstance(x, LoDTensor) and x.lod.num_levels and 0 not in chosen:
        return tensor_core.new_tensor(np.ascontiguousarray(reduced), x.lod)
    return reduced


@reduce_values.define_steps
def _(rows: Any, x: Any, name: str, axes: Any, keepdims: bool, initial: Any, empty: Any) -> Any:
    return rows.reduced(x, name, axes) if initial is None else None


def _raises(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Return whether a reduction must raise: it has no result for no values, and there are results."""
    if name in INDEX:
        return True
    return name in ("max", "min") and math.prod([size for axis, size in enumerate(shape) if axis not in axes]) > 0


def _without(name: str, dtype: np.dtype[Any], error: TypeError) -> DTypeError:
    """Return the error for values that NumPy cannot reduce."""
    return DTypeError(f"reduce_values: x: has dtype {dtype}, which has no {name}: {error}")


def check_kind(name: str, dtype: np.dtype[Any], ragged: bool) -> None:
    """Raise if values of a dtype cannot be reduced along ragged, or along other, axes."""
    if name in ("max", "min", "argmax", "argmin"):
        if ragged and dtype.kind not in "biuf":
            raise DTypeError(f"{name}: x: has dtype {dtype}; along axes of levels real numbers are needed")
    elif dtype.kind not in "biufc":
        raise DTypeError(f"{name}: x: has dtype {dtype}; numbers are needed")
    elif name == "prod" and ragged and dtype.kind == "c":
        raise DTypeError(f"{name}: x: has dtype {dtype}; along axes of levels real numbers are needed")


def cast_for(name: str, x: Any, dtype: Any) -> Any:
    """Convert the values to the dtype in which they are reduced."""
    if dtype is None:
        return x
    made = sized(name, dtype)
    needed = "fc" if name in ("mean", "var", "std") else "biufc"
    if x.dtype.kind not in "biufc" or made.kind not in needed:
        raise DTypeError(
            f"{name}: dtype: is {made}; x has {x.dtype}, and {'floats' if needed == 'fc' else 'numbers'} are needed"
        )
    return x if x.dtype == made else cast(x, made)


def in_dtype(found: Any, dtype: Any) -> Any:
    """Convert a result to the requested dtype; sums and products of integers are computed in 64 bits."""
    if dtype is None or found.dtype == dtype:
        return found
    return found.astype(dtype) if isinstance(found, np.generic) else cast(found, dtype)


def dtype_of_accumulate(where: str, ufunc: np.ufunc, given: np.dtype[Any], dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which a ufunc accumulates for a requested dtype; raise if it does not support it."""
    try:
        return ufunc.accumulate(np.ones(1, given), dtype=dtype).dtype
    except TypeError as error:
        raise DTypeError(f"{where}: dtype: is {dtype}; {error}") from None


def kept_initial(name: str, initial: Any, dtype: np.dtype[Any]) -> Any:
    """Convert the initial value to the dtype of the result, which must be able to hold it."""
    if initial is None or isinstance(initial, Symbol):
        return initial
    kept = kept_in(f"{name}: initial", initial, REDUCTIONS[name](np.ones(1, dtype)).dtype)
    if kept.ndim:
        raise DTypeError(f"{name}: initial: has shape {kept.shape}; a number is needed")
    return kept[()]


def kept_empty(name: str, empty: Any, dtype: np.dtype[Any]) -> Any:
    """Convert the result for no values to the dtype of the results, which must be able to hold it."""
    if empty is None or isinstance(empty, Symbol):
        return empty
    kept = kept_in(f"{name}: empty", empty, _dtype(name, dtype))
    if kept.ndim:
        raise DTypeError(f"{name}: empty: has shape {kept.shape}; a number is needed")
    return kept[()]


def _checked(name: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """Check a name and axes; return the axes counted from the first."""
    if axes is None and type(name) is str and name in REDUCTIONS:  # the usual case
        return tuple(range(ndim))
    if not isinstance(name, str) or (name not in REDUCTIONS and name not in INDEX and name != "mean"):
        names = [*REDUCTIONS, "mean", *INDEX]
        raise ValueError(f"reduce_values: name: is {name!r}; one of {', '.join(names)} is needed")
    if axes is None:
        return tuple(range(ndim))
    given = axes if isinstance(axes, tuple) else ()
    numbers = [number for number in (as_integer(axis, bools=True) for axis in given) if number is not None]
    if not isinstance(axes, tuple) or len(numbers) < len(axes):
        raise DTypeError(f"reduce_values: axes: are {axes!r}; a tuple of integers is needed")
    for axis in numbers:
        if not -ndim <= axis < ndim:
            raise ShapeError(f"reduce_values: axes: {axis} is one; the values have {ndim} axes")
    chosen = tuple(axis % ndim for axis in numbers)
    if len(set(chosen)) < len(chosen) or (name in INDEX and len(chosen) != 1):
        needed = "one axis is" if name in INDEX else "different axes are"
        raise ShapeError(f"reduce_values: axes: are {axes}; {needed} needed")
    return chosen


def _mean(values: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Compute the mean, or nan for no values."""
    if values.size or math.prod(values.shape[axis] for axis in axes):
        return np.mean(values, axis=axes, keepdims=keepdims)
    shape = _shape(values.shape, axes, keepdims)
    return np.full(shape, np.nan, mean_dtype(values.dtype))[()]


def mean_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a mean: float64 for integers."""
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def _shape(shape: tuple[Any, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[Any, ...]:
    kept = [1 if axis in axes else size for axis, size in enumerate(shape) if keepdims or axis not in axes]
    return tuple(kept)


@reduce_values.define_infer
def _(x: Spec, name: str, axes: Any, keepdims: bool, initial: Any, empty: Any) -> Spec:
    chosen = _checked(name, axes, len(x.shape))
    kept_empty(name, empty, x.dtype)
    return Spec(_shape(x.shape, chosen, keepdims), _dtype(name, x.dtype))


def _dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a result."""
    if name in INDEX:
        return np.dtype(np.intp)
    try:
        one = np.ones(1, dtype)
        found: np.dtype[Any] = (np.mean(one) if name == "mean" else REDUCTIONS[name](one)).dtype
    except TypeError as error:
        raise _without(name, dtype, error) from None
    return found


@reduce_values.define_vjp
def _(d: Array, x: Any, name: str, axes: Any, out: Any) -> Array:
    values = np.asarray(rows_of(x))
    axes = _checked(name, axes, values.ndim)
    wide = d.reshape(_shape(values.shape, axes, True))
    count = math.prod([values.shape[axis] for axis in axes])
    if name in ("sum", "mean"):
        made = np.empty(values.shape, values.dtype)
        made[...] = wide if name == "sum" else wide / max(count, 1)
        return made
    front = tuple(axis for axis in range(values.ndim) if axis not in axes)
    flat = values.transpose(*front, *axes).reshape(*[values.shape[axis] for axis in front], count)
    wide = wide.transpose(*front, *axes).reshape(*flat.shape[:-1], 1)
    if name == "prod":
        d_flat = wide * _products_of_others(flat)
    else:
        extreme = np.asarray(rows_of(out)).reshape(_shape(values.shape, axes, True)).transpose(*front, *axes)
        d_flat = _at_the_first(flat, extreme.reshape(wide.shape), wide, name)
    moved = [values.shape[axis] for axis in (*front, *axes)]
    return d_flat.reshape(moved).transpose(np.argsort([*front, *axes]))


def _products_of_others(values: Array) -> Array:
    """Return, for each entry, the product of all others along the last axis."""
    before, after = np.ones_like(values), np.ones_like(values)
    before[..., 1:] = np.cumprod(values[..., :-1], -1)
    after[..., :-1] = np.cumprod(values[..., :0:-1], -1)[..., ::-1]
    return before * after


def _at_the_first(values: Array, out: Array, d: Array, name: str) -> Array:
    """Write a gradient to the first position of the extreme, or nowhere if the initial value was more extreme."""
    d_values = np.zeros_like(values)
    if values.shape[-1]:
        place = INDEX[f"arg{name}"](values, -1, keepdims=True)
        found = np.take_along_axis(values, place, -1)
        np.put_along_axis(d_values, place, np.where((found == out) | np.isnan(found), d, 0), -1)
    return d_values
