"""Variances and standard deviations: of sequences, and over axes of the ragged shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.caller import named_caller
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import flag
from lodcore.base.naming import call_named
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError
from lodcore.operators.copies import spec_rows
from lodcore.operators.lod_rules import before
from lodcore.operators.numbers import is_real
from lodcore.operators.operands import Array, rows_below, rows_of, with_levels
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.ops.elementwise.compare import greater_than
from lodcore.ops.elementwise.convert import cast, full_like
from lodcore.ops.elementwise.math import div, minus, mul, sqrt
from lodcore.ops.elementwise.math import where as choose
from lodcore.ops.move.expand import sequence_expand_as
from lodcore.ops.reduce.axes import axes_below, cast_for, count_left, mean, reduce_axes, tensor_of
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into, numbers_of
from lodcore.ops.reduce.reduce_values import (
    as_number,
    axes_of,
    brought_last,
    is_below,
    mean_dtype,
    put_back,
    with_axes_of_1,
)
from lodcore.tensors import lod_body
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_std", "sequence_var", "std", "var"]

DOUBLE = np.dtype(np.float64)


@operator(x=Nested, lod_rule=before("level"))
def sequence_var(x: Any, ddof: float = 0, level: int = -1, *, saved: Saved = None) -> Any:
    """Average the squared distances of the rows of each sequence from their mean, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers of at most float64.
    ddof : number
        Subtracted from the number of rows to give the divisor.
    level : int
        The level of the sequences whose rows are reduced.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        One row per sequence, with the dtype of x, float64 for integers; nan where the divisor is not positive, as for
        an empty sequence.

    Raises
    ------
    LevelError, DTypeError
        If the level does not exist, x does not hold real numbers, or ddof is not a number.

    Notes
    -----
    Sums are computed in float64, for float32 as well, in the same order on every machine; see
    `lodcore.kernels.deviation`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_var([[1.0, 3.0], [], [3.0]])
    array([ 1., nan,  0.])
    """
    return _varied("sequence_var", x, ddof, level, saved)


def _varied(where: str, x: Any, ddof: Any, level: int, saved: Saved, root: bool = False) -> Any:
    """Compute variances, or standard deviations; save the means."""
    values = x.values
    taken = _number(where, ddof)
    work, dtype = _dtypes(where, values.dtype)
    k = lod_body.normalize_level(x.lod, level, where)
    offsets = lod_body.in_rows(x.lod, k)
    cells = cells_of(values, work)
    shape = (len(offsets) - 1, cells.shape[1])
    means, squares = np.empty(shape), np.empty(shape)
    over_sequences(kernels.deviation.vary_rows, "ro.ss", cells, offsets, taken, means, squares)
    result = squares.reshape(len(squares), *values.shape[1:])
    if dtype != DOUBLE:
        with np.errstate(over="ignore"):
            result = result.astype(dtype)
    if root:
        np.sqrt(result, out=result)
    if saved is not None:
        saved["means"] = means
    return with_levels(result, x.lod, k)


def _dtypes(where: str, dtype: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    """Return the dtype in which rows are read, and that of the result."""
    if dtype.kind == "c":
        raise DTypeError(f"{where}: x: has dtype {dtype}; real numbers are needed")
    return numbers_of(where, "mean", dtype)


def _number(where: str, ddof: Any) -> float:
    if not is_real(ddof):
        raise DTypeError(f"{where}: ddof: is {ddof!r}; a number is needed")
    return float(ddof)


@sequence_var.define_infer
def _(x: Spec, ddof: float, level: int) -> Spec:
    _number("sequence_var", ddof)
    return Spec(spec_rows(x), _dtypes("sequence_var", x.dtype)[1])


@sequence_var.define_vjp
def _(d: Array, x: Any, ddof: float, level: int, means: Array, context: Any) -> Array:
    left = _left(x, ddof, level)
    return _spread(x, level, means, 2 * d.reshape(means.shape).astype(DOUBLE) / left, context.new("x"))


def _left(x: Any, ddof: float, level: int) -> Array:
    """Compute the divisors; they are infinite where they would not be positive, since the derivative is 0 there."""
    left = rows_below(x.lod, lod_body.normalize_level(x.lod, level))[:, None] - float(ddof)
    return np.where(left > 0, left, np.inf)


def _spread(x: Any, level: int, means: Array, scales: Array, d_x: Array) -> Array:
    """Multiply the distances from the means by a scale per sequence."""
    work, _ = _dtypes("sequence_var", x.dtype)
    offsets, rows = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level)), cells_for(d_x, work)
    over_sequences(kernels.deviation.spread_distances, "rossr", cells_of(x.values, work), offsets, means, scales, rows)
    convert_into(rows, d_x)
    return d_x


@operator(x=Nested, lod_rule=before("level"))
def sequence_std(x: Any, ddof: float = 0, level: int = -1, *, saved: Saved = None) -> Any:
    """Compute the standard deviation of the rows of each sequence: the square root of `sequence_var`.

    Parameters
    ----------
    x, ddof, level
        As in `sequence_var`.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        As in `sequence_var`; where all rows are equal, the derivative is 0.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_std([[1.0, 3.0], [], [3.0]])
    array([ 1., nan,  0.])
    """
    return _varied("sequence_std", x, ddof, level, saved, True)


@sequence_std.define_infer
def _(x: Spec, ddof: float, level: int) -> Spec:
    _number("sequence_std", ddof)
    return Spec(spec_rows(x), _dtypes("sequence_std", x.dtype)[1])


@sequence_std.define_vjp
def _(d: Array, x: Any, ddof: float, level: int, out: Any, means: Array, context: Any) -> Array:
    width = np.asarray(getattr(out, "values", out)).reshape(means.shape).astype(DOUBLE)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = _left(x, ddof, level)
        scales = np.where((width == 0) | np.isinf(left), 0.0, d.reshape(means.shape) / (left * width))
    return _spread(x, level, means, scales, context.new("x"))


def var(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    level: int | None = None,
) -> Any:
    """Average the squared distance from the mean. The parameters are those of `sum`.

    Parameters
    ----------
    ddof : number
        Subtracted from the number of values to give the divisor.

    Returns
    -------
    LoDTensor, ndarray or number
        nan for no values; float64 for integers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.var(lodcore.array([[1, 3], [], [3]]), axis=1)
    array([ 1., nan,  0.])
    """
    if level is not None:
        x, axis = axes_below("var", x, axis, level)
    x = tensor_of("var", x)
    if x.dtype.kind == "c":
        raise DTypeError(f"var: x: has dtype {x.dtype}; real numbers are needed")
    x = cast_for("var", x, mean_dtype(x.dtype) if dtype is None else dtype)
    if x.dtype.kind == "c":
        raise DTypeError(f"var: dtype: is {x.dtype}; real numbers are needed")
    levels, keepdims = getattr(x, "num_levels", 0), flag("var: keepdims", keepdims)
    ddof = ddof if isinstance(ddof, Symbol) else _number("var", ddof)
    known = not isinstance(x, Symbol) and not isinstance(ddof, Symbol)
    if known and axis is None and where is True and out is None and not keepdims:
        values = np.asarray(rows_of(x))
        if values.size > ddof and values.dtype.itemsize > 2:  # the same operators, in fewer calls
            with named_caller():
                return values.var(ddof=ddof)
    axes = tuple(range(x.ndim)) if axis is None else axes_of("var", axis, x.ndim)
    upper = [one for one in axes if one <= levels] if levels else []
    if where is True and out is None and is_below(axes, levels):
        found = sequence_var(x, ddof, axes[0] - 1)
        return with_axes_of_1(found, len(axes)) if keepdims else found
    if x.dtype == np.float16:  # which counts up to 2048
        return as_number(cast(var(cast(x, np.float32), axis, None, out, ddof, keepdims, where=where), np.float16))
    if upper and len(upper) <= levels and not is_below(tuple(upper), levels):
        behind = brought_last(x, upper)
        mask = where if where is True else brought_last(greater_than(choose(where, full_like(x, 1), 0), 0), upper)
        rows = tuple(one - levels for one in axes if one > levels)
        chosen = tuple(one - len(upper) + 1 for one in (levels, *axes[len(upper) :]))  # the others are one axis now
        found = var(behind, chosen, None, out, ddof, where=mask)
        return put_back(found, upper, levels, rows) if keepdims else found
    if upper and upper[0] > 0 and len(upper) == len(axes):  # the same as with axes of length 1, but faster
        average = sequence_expand_as(mean(x, axes, where=where), x, upper[0] - 1)
    else:
        average = mean(x, axes, keepdims=True, where=where)
    distance = minus(x, average)
    del average  # so that its memory is reused
    if where is not True:  # of nothing the average is nan, which must not reach a gradient
        distance = choose(where, distance, 0)
    return div(
        reduce_axes("sum", mul(distance, distance), axis, out, keepdims, None, where),
        count_left(x, axis, keepdims, where, ddof),
    )


def std(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    level: int | None = None,
) -> Any:
    """Compute the square root of `var`, with the same parameters. Where all values are equal, the derivative is 0.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.std(lodcore.array([[1, 3], [], [3]]), axis=1)
    array([ 1., nan,  0.])
    """
    if level is not None:
        x, axis = axes_below("std", x, axis, level)
    x = tensor_of("std", x)
    levels, keepdims = getattr(x, "num_levels", 0), flag("std: keepdims", keepdims)
    plain = where is True and out is None and dtype is None and axis is not None and x.dtype.kind != "c"
    if levels and plain and x.dtype.itemsize <= 8:
        is_last = type(axis) is int and axis == levels  # the usual case
        axes = (levels,) if is_last else axes_of("std", axis, x.ndim)
        if is_below(axes, levels):
            found = call_named("std", sequence_std, x, ddof, axes[0] - 1)
            return with_axes_of_1(found, len(axes)) if keepdims else found
    squared = call_named("std", var, x, axis, dtype, out, ddof, keepdims, where=where)
    return root_of(squared)


def root_of(squared: Any) -> Any:
    """Compute square roots, whose derivative is 0 at 0."""
    if not isinstance(squared, Symbol):
        return sqrt(squared)
    wide = greater_than(squared, 0)
    return as_number(choose(wide, sqrt(choose(wide, squared, 1)), squared))
