"""Softmax, logsumexp and cumulative sums within sequences, column by column; softmax along an axis of values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.caller import named_caller
from lodcore.base.naming import call_named
from lodcore.base.recycling import Recycled
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import axis_of, level_of
from lodcore.operators.lod_rules import before
from lodcore.operators.operands import Array, array_of, rows_of, with_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Nested
from lodcore.ops.elementwise.math import float_of
from lodcore.ops.reduce.pool import (
    along_axis,
    cells_for,
    cells_of,
    convert_into,
    extremes,
    numbers_of,
    result_rows,
)
from lodcore.ops.windows.neighbours import sequence_accumulate
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["log_softmax", "sequence_cumsum", "sequence_logsumexp", "sequence_softmax", "softmax"]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
COST = 8  # of one exponential, relative to copying a number


@operator(x=Nested)
def sequence_softmax(x: Any, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Compute the softmax within each sequence: exp(x - max) / sum(exp(x - max)).

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers; the softmax of each column is computed separately.
    level : int
        The level of the sequences; the sum over all rows below one is 1.
    out : ndarray, optional
        shape (number of rows, ...): the array to write to.

    Returns
    -------
    LoDTensor
        Has the LoD and the dtype of x; float64 for integers.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If x does not hold real numbers.

    Notes
    -----
    Large numbers do not overflow. The result for a sequence with nan or inf, or with -inf only, is nan; otherwise that
    for -inf is 0. Exponentials are accurate to 1.1 units in the last place, and have the same bits on every processor.
    Results that would be subnormal (below 1.2e-38 for float32, 2.3e-308 for float64) are 0.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_softmax([[0.0, 0.0], [], [1000.0, 1000.0, -1000.0]])
    LoDTensor(3 sequences of lengths 0..3, float64: [[0.5, 0.5], [], [0.5, 0.5, 0.]])
    """
    where = "sequence_softmax"
    values, lod = x.values, x.lod
    work, dtype = _reals_of(where, values.dtype)
    k = lod_body.normalize_level(lod, level, where)
    result = result_rows(where, values, len(values), dtype, out)
    cells = cells_for(result, work)
    over_sequences(
        kernels.softmax.softmax_rows, "ror", cells_of(values, work), lod_body.in_rows(lod, k), cells, cost=COST
    )
    if dtype != work:
        convert_into(cells, result)
    return lod_tensor_body.owned_tensor(result, lod)


@sequence_softmax.define_infer
def _(x: Spec, level: int) -> Spec:
    where = "sequence_softmax"
    dtype = _reals_of(where, x.dtype)[1]
    level_of(where, x, level)
    return Spec(x.shape, dtype)


@sequence_softmax.define_vjp
def _(d: Array, out: LoDTensor, level: int, context: Any) -> Array:
    d_x: Array = context.new("x")
    work, _ = _reals_of("sequence_softmax", d_x.dtype)
    rows, cells = cells_of(out.values, work), cells_for(d_x, work)
    offsets = lod_body.in_rows(out.lod, lod_body.normalize_level(out.lod, level))
    over_sequences(kernels.softmax.pull_softmax, "rror", rows, cells_of(d, work), offsets, cells, cost=COST)
    convert_into(cells, d_x)
    return d_x


@operator(x=Nested, lod_rule=before("level"))
def sequence_logsumexp(x: Any, level: int = -1) -> Any:
    """Compute log(sum(exp(x))) of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Real numbers; each column is reduced separately.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    LoDTensor, or ndarray for the outermost level
        Has the levels before `level`, one row per sequence, and the dtype of x; float64 for integers.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If x does not hold real numbers.

    Notes
    -----
    Large numbers do not overflow. The result is -inf for an empty sequence and one with -inf only, inf for one with
    inf, and nan for one with nan. The gradient is the softmax; where the result is infinite, the greatest
    numbers share it equally.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_logsumexp([[0.0, 0.0], [], [1000.0]])
    array([6.93147181e-01,           -inf, 1.00000000e+03])
    """
    where = "sequence_logsumexp"
    values, lod = x.values, x.lod
    work, dtype = _reals_of(where, values.dtype)
    k = lod_body.normalize_level(lod, level, where)
    result = result_rows(where, values, lod.num_sequences(k), dtype, None)
    cells = cells_for(result, work)
    over_sequences(
        kernels.softmax.log_sum_exp, "ros", cells_of(values, work), lod_body.in_rows(lod, k), cells, cost=COST
    )
    if dtype != work:
        convert_into(cells, result)
    return with_levels(result, lod, k)


@sequence_logsumexp.define_infer
def _(x: Spec, level: int) -> Spec:
    return Spec((None, *x.shape[1:]), _reals_of("sequence_logsumexp", x.dtype)[1])


@sequence_logsumexp.define_vjp
def _(d: Array, x: LoDTensor, out: Any, level: int, context: Any) -> Array:
    d_x: Array = context.new("x")
    work, _ = _reals_of("sequence_logsumexp", d_x.dtype)
    cells = cells_for(d_x, work)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))
    rows, values = cells_of(d, work), cells_of(x.values, work)
    values = _with_finite_maxima(values, cells_of(rows_of(out), work), np.diff(offsets))
    over_sequences(kernels.softmax.spread_softmax, "sror", rows, values, offsets, cells, cost=COST)
    convert_into(cells, d_x)
    return d_x


def _with_finite_maxima(x: Array, sums: Array, lengths: Array) -> Array:
    """Return numbers with the same softmax; in sequences of infinite sums, the limit: infinity minus itself is nan."""
    infinite = np.isinf(sums) & (lengths > 0)[:, None]
    if not infinite.any():
        return x
    infinite, greatest = np.repeat(infinite, lengths, axis=0), x == np.repeat(sums, lengths, axis=0)
    x = np.where(infinite, x.dtype.type(-np.inf), x)
    x[infinite & greatest] = 0
    return x


@operator(x=Nested)
def sequence_cumsum(x: Any, level: int = -1) -> LoDTensor:
    """Compute the cumulative sums of each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Numbers or durations; each column is accumulated separately.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    LoDTensor
        Has the LoD of x, and the dtype of NumPy's cumsum: int64 or uint64 for integers, which wrap around. Durations
        are added up by NumPy, where they wrap around, too, before version 2.5, and raise OverflowError from then on.
        Sums of float16 are computed in float32.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If x does not hold numbers of at most float64, or durations.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_cumsum([[1, 2, 3], [], [10, 20]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 3, 6], [], [10, 30]])
    """
    where = "sequence_cumsum"
    values, lod = x.values, x.lod
    if values.dtype.kind == "m":
        found: LoDTensor = call_named(where, sequence_accumulate, x, np.add, level)
        return found
    work, dtype = numbers_of(where, "sum", values.dtype)
    k = lod_body.normalize_level(lod, level, where)
    result = result_rows(where, values, len(values), dtype, None)
    cells = cells_for(result, work)
    over_sequences(
        kernels.softmax.add_up_rows,
        "ro.r",
        cells_of(values, work),
        lod_body.in_rows(lod, k),
        False,
        cells,
        cost=2,
    )
    if dtype != work:
        convert_into(cells, result)
    return lod_tensor_body.owned_tensor(result, lod)


@sequence_cumsum.define_infer
def _(x: Spec, level: int) -> Spec:
    where = "sequence_cumsum"
    dtype = x.dtype if x.dtype.kind == "m" else numbers_of(where, "sum", x.dtype)[1]
    level_of(where, x, level)
    return Spec(x.shape, dtype)


@sequence_cumsum.define_vjp
def _(d: Array, x: LoDTensor, level: int, context: Any) -> Array:
    lod, d_x = x.lod, context.new("x")
    work, _ = numbers_of("sequence_cumsum", "sum", d_x.dtype)
    cells = cells_for(d_x, work)
    offsets = lod_body.in_rows(lod, lod_body.normalize_level(lod, level))
    over_sequences(kernels.softmax.add_up_rows, "ro.r", cells_of(d, work), offsets, True, cells, cost=2)
    convert_into(cells, d_x)
    found: Array = d_x
    return found


# -- along an axis of values ------------------------------------------------------------------------------------------


@operator(x=Dense)
def softmax(x: Any, axis: int = -1) -> Any:
    """Compute the softmax over an axis of the values: exp(x - max) / sum(exp(x - max)).

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int
        The axis of the values, not of a level; see `sequence_softmax` for that.

    Returns
    -------
    LoDTensor or ndarray
        With the dtype of `numpy.exp`: float64 for int64. It is nan where all values are -inf.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    values, where = _values_of("softmax", x, axis)
    if not values.size:
        return values
    if values.dtype.char not in "fd":
        with named_caller():
            return _softmax(values, where)
    rows, bounds = along_axis(values, where)
    made = buffers.new_rows("softmax", rows, len(rows))
    over_sequences(kernels.softmax.softmax_rows, "ror", rows, bounds, made, cost=COST)
    return made.reshape(values.shape)


def _softmax(values: Any, axis: int) -> Any:
    with np.errstate(invalid="ignore"):  # inf - inf
        powers = np.exp(values - values.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@softmax.define_steps
def _(rows: Any, x: Any, axis: int) -> Any:
    return rows.by_function(_softmax, x, softmax.prepared_rule(_softmax_back), axis=axis)


@softmax.define_infer
def _(x: Spec, axis: int) -> Spec:
    return _inferred("softmax", x, axis)


@softmax.define_vjp
def _(d: Array, out: Any, axis: int) -> Any:
    y = np.asarray(rows_of(out))
    if y.dtype.char not in "fd" or not y.size:
        return _softmax_back(d, y, axis)
    (rows, bounds), (given, _) = (along_axis(one, axis % y.ndim) for one in (y, d))
    made = buffers.new_rows("softmax", rows, len(rows))
    over_sequences(kernels.softmax.pull_softmax, "rror", rows, given, bounds, made, cost=COST)
    return made.reshape(y.shape)


def _softmax_back(d: Any, out: Any, axis: int) -> Any:
    return out * (d - (d * out).sum(axis, keepdims=True))


@operator(x=Dense)
def log_softmax(x: Any, axis: int = -1) -> Any:
    """Compute the logarithm of the softmax over an axis of the values: x - max - log(sum(exp(x - max))).

    Unlike the logarithm of `softmax`, it is finite and accurate where the softmax rounds to 0.

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int
        The axis of the values, not of a level; `x - x.per_sequence(sequence_logsumexp(x))` is that of a level.

    Returns
    -------
    LoDTensor or ndarray
        With the dtype of `numpy.exp`: float64 for int64. It is nan where all values are -inf.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.log_softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[-6.93147181e-01, -6.93147181e-01],
           [ 0.00000000e+00, -1.00000000e+03]])
    """
    values, where = _values_of("log_softmax", x, axis)
    if not values.size:
        return values
    if values.dtype.char not in "fd":
        with named_caller():
            return _log_softmax(values, where)
    with named_caller(), np.errstate(invalid="ignore"), Recycled():  # inf - inf
        shifted = values - extremes(values, where, is_min=False)
    shifted -= log_sums(shifted, where)
    return shifted


def log_sums(x: Array, axis: int) -> Array:
    """Compute log(sum(exp(x))) along an axis of float32 or float64, whose maxima are 0; it is kept with length 1."""
    rows, bounds = along_axis(x, axis)
    made = np.empty((*x.shape[:axis], 1, *x.shape[axis + 1 :]), rows.dtype)
    cells = made.reshape(len(bounds) - 1, rows.shape[1])
    over_sequences(kernels.softmax.log_sum_exp, "ros", rows, bounds, cells, cost=COST)
    return made


def _log_softmax(values: Any, axis: int) -> Any:
    with np.errstate(invalid="ignore"):  # inf - inf
        shifted = values - values.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


@log_softmax.define_steps
def _(rows: Any, x: Any, axis: int) -> Any:
    return rows.by_function(_log_softmax, x, log_softmax.prepared_rule(_log_softmax_back), axis=axis)


@log_softmax.define_infer
def _(x: Spec, axis: int) -> Spec:
    return _inferred("log_softmax", x, axis)


@log_softmax.define_vjp
def _(d: Array, out: Any, axis: int) -> Any:
    return _log_softmax_back(d, np.asarray(rows_of(out)), axis)


def _log_softmax_back(d: Any, out: Any, axis: int) -> Any:
    return d - np.exp(out) * d.sum(axis, keepdims=True)


def _values_of(name: str, x: Any, axis: Any) -> tuple[Array, int]:
    """Return the values of a tensor as floating-point numbers, and an axis of them counted from the first."""
    values = array_of(name, x)
    where = _axis(name, axis, values.ndim, isinstance(x, LoDTensor))
    return values.astype(float_of(name, values.dtype), copy=False), where


def _inferred(name: str, x: Spec, axis: Any) -> Spec:
    _axis(name, axis, len(x.shape), x.num_levels > 0)
    return Spec(x.shape, float_of(name, x.dtype))


def _axis(name: str, axis: Any, ndim: int, nested: bool) -> int:
    """Check an axis of values; return it counted from the first."""
    found = axis_of(f"{name}: axis", axis, ndim)
    if nested and found == 0:
        raise ShapeError(f"{name}: axis: is {axis}, that of the rows; use sequence_softmax for sequences")
    return found


# -- dtypes ------------------------------------------------------------------------------------------------------------


@functools.cache
def _reals_of(where: str, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return the dtype in which functions of real numbers are computed, and that of the result."""
    if dtype.kind not in "biuf" or dtype.itemsize > DOUBLE.itemsize:
        raise DTypeError(f"{where}: x: has dtype {dtype}; real numbers of at most float64 are needed")
    if dtype.kind != "f":
        return DOUBLE, DOUBLE
    return (SINGLE, dtype) if dtype.itemsize < SINGLE.itemsize else (dtype, dtype)
