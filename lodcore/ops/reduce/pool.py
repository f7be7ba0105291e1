"""Pooling of each sequence to one row."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dtypes import native_dtype
from lodcore.base.memory import check_out
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.lod_rules import before
from lodcore.operators.operands import Array, with_levels
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, Nested
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.padding import hold
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_pool"]

POOL_TYPES = ("sum", "mean", "sqrt", "max", "min", "first", "last")
DIVIDE = {"sum": 0, "mean": 1, "sqrt": 2}
ZERO = 0.0  # the default, for which no padding row needs to be made
OF_SMALL = ("sum", "max", "min")  # computed on integers of less than 8 bytes as they are
LARGEST = 3.4e38  # slightly less than the greatest float32
OF_DURATIONS = ("sum", "mean", "max", "min")  # computed as integers
HALF = 32  # of the bits of a duration


@operator(x=Nested, pad_value=Dense, lod_rule=before("level"))
def sequence_pool(
    x: Any, pool_type: str, pad_value: Any = ZERO, level: int = -1, out: Array | None = None, *, saved: Saved = None
) -> Any:
    """Pool each sequence to one row, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of any shape. "first" and "last" accept any dtype, "sum", "mean" and "sqrt" real and complex numbers, "max"
        and "min" real numbers; all but "sqrt" also durations.
    pool_type : {"sum", "mean", "sqrt", "max", "min", "first", "last"}
        "sqrt" is the sum divided by the square root of the length. Sums of integers are int64 or uint64, means float64,
        as in NumPy; all other results keep the dtype. Sums of integers and of durations wrap around on overflow. "max"
        and "min" propagate nan, and pass the gradient to the first of equal rows. Means of durations are rounded
        toward zero; NaT propagates.
    pad_value : scalar or array_like of one row's shape
        The row of an empty sequence. The default is 0: for durations a duration of 0, and for dates, which "first" and
        "last" take, 1970-01-01, never NaT.
    level : int
        The level of the sequences that are pooled, with all rows below each.
    out : ndarray, optional
        shape (number of sequences, ...): the array to write to.

    Returns
    -------
    LoDTensor, or ndarray if `level` is the first
        One row per sequence, with the levels before `level`.

    Raises
    ------
    ValueError
        If pool_type is unknown.
    DTypeError, ShapeError
        If the dtype does not support pool_type, or pad_value is not a row of the result.
    LevelError
        If the level does not exist.

    Notes
    -----
    Sums are computed in the same order on every machine, see `lodcore.kernels.pool`: row by row, and for rows of one
    number in 64 (float64: 32) lanes.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[[1.0, 2.0], []], [[4.0, 5.0, 6.0]]])
    >>> lodcore.sequence_pool(x, "sum")
    LoDTensor(2 sequences of lengths 1..2, float64: [[3., 0.], [15.]])
    >>> lodcore.sequence_pool(x, "max", level=0)
    array([2., 6.])
    """
    if x.dtype.kind == "m" and pool_type in OF_DURATIONS:
        return _pool_durations("sequence_pool", x, pool_type, pad_value, level, out)
    return pool("sequence_pool", x, pool_type, pad_value, level, out, saved)


@sequence_pool.define_infer
def _(x: Spec, pool_type: str, pad_value: Any, level: int) -> Spec:
    if x.dtype.kind == "m" and pool_type in OF_DURATIONS:
        return Spec((None, *x.shape[1:]), native_dtype(x.dtype))
    _, dtype = numbers_of("sequence_pool", name_of(pool_type), x.dtype)
    return Spec((None, *x.shape[1:]), dtype)


@sequence_pool.define_vjp
def _(
    d: Array, x: Any, pool_type: str, pad_value: Any, level: int, places: Any, needs: Any, context: Any
) -> tuple[Any, Any]:
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))
    d_x = d_pad = None
    if needs.x:
        d_x = context.new("x")
        spread("sequence_pool", pool_type, d, offsets, places, d_x)
    if needs.pad_value:
        given = cells_of(d, numbers_of("sequence_pool", "sum", d.dtype)[0])
        total = np.empty(given.shape[1], given.dtype)
        kernels.pool.sum_empty(given, offsets, total)
        d_pad = total.view(d.dtype if d.dtype.kind == "c" else total.dtype).reshape(d.shape[1:])
        if np.shape(pad_value) != d_pad.shape:
            d_pad = d_pad.sum().reshape(np.shape(pad_value))
    return d_x, d_pad


def spread(where: str, pool_type: str, d_out: Array, offsets: Any, places: Any, d_x: Array) -> None:
    """Write the gradient of the pooled rows, from the cotangent of the result."""
    if pool_type == "sum" and d_out.dtype == d_x.dtype:
        over_sequences(kernels.expand.repeat_rows, "sor", buffers.as_bytes(d_out), offsets, buffers.as_bytes(d_x))
        return
    work, _ = numbers_of(where, pool_type, d_x.dtype)
    if work is None:
        over_sequences(
            kernels.pool.place_rows,
            "so.r",
            buffers.as_bytes(d_out),
            offsets,
            pool_type == "last",
            buffers.as_bytes(d_x),
        )
        return
    given, rows = cells_of(d_out, work), cells_for(d_x, work)
    if pool_type in DIVIDE:
        over_sequences(kernels.pool.spread_rows, "so.r", given, offsets, DIVIDE[pool_type], rows)
    else:
        over_sequences(kernels.pool.scatter_cells, "sosr", given, offsets, places, rows)
    convert_into(rows, d_x)


def pool(where: str, x: Any, pool_type: str, pad_value: Any, level: int, out: Array | None, saved: Saved) -> Any:
    """Pool rows; save the positions of the extremes."""
    lod = x.lod
    work, dtype = numbers_of(where, pool_type if type(pool_type) is str else name_of(pool_type), x.dtype)
    values = lod_tensor_body.writable_values(x) if work is None else x.values
    k = lod_body.normalize_level(lod, level, where)
    offsets = lod_body.in_rows(lod, k)
    row = None if _is_default(pad_value) else empty_row(where, pad_value, values.shape[1:], dtype)
    given = () if out is None or row is None else (np.asarray(pad_value),)
    result = result_rows(where, values, len(offsets) - 1, dtype, out, *given)
    if work is None:
        _pick_rows(x, values, offsets, pool_type == "last", result)
    elif saved is None and pool_type in OF_SMALL and values.dtype.kind in "biu" and values.itemsize < 8:
        _pool_small(pool_type, values, offsets, result)
    else:
        source, target = cells_of(values, work), cells_for(result, work)
        if pool_type in DIVIDE:
            over_sequences(kernels.pool.sum_rows, "ro.s", source, offsets, DIVIDE[pool_type], target)
        elif saved is not None:
            index = saved["places"] = np.empty(target.shape, np.int64)
            over_sequences(kernels.pool.find_best_rows, "ro.ss", source, offsets, pool_type == "min", target, index)
        else:
            over_sequences(kernels.pool.best_rows, "ro.s", source, offsets, pool_type == "min", target)
        if dtype != work:
            convert_into(target, result)
    if row is not None:
        kernels.pool.fill_empty(buffers.as_bytes(row)[0], offsets, buffers.as_bytes(result))
    if k:
        return with_levels(result, lod, k)
    return result if out is None else out


def _pick_rows(x: Any, rows: Array, offsets: Any, last: bool, result: Array) -> None:
    """Copy the first (or last) row of each sequence; `rows` may be a field of records, which is not contiguous."""
    if rows.flags.c_contiguous or len(result) >= len(rows) // 4:  # too few rows for threads
        kernels.pool.pick_rows(buffers.as_bytes(x.values), offsets, last, buffers.as_bytes(result))
        return
    starts, ends = np.asarray(offsets)[:-1], np.asarray(offsets)[1:]  # a copy of the field would take longer
    filled = starts < ends
    result[~filled] = np.zeros((), result.dtype)
    result[filled] = rows[(ends - 1 if last else starts)[filled]]


def _pool_small(pool_type: str, values: Array, offsets: Any, result: Array) -> None:
    """Pool integers of 1, 2 and 4 bytes without converting them."""
    native = native_dtype(values.dtype)
    bits = np.dtype(np.uint8) if native.kind == "b" else native
    source = buffers.as_cells(values.astype(native, copy=False), bits)
    if pool_type == "sum":
        target = cells_for(result, result.dtype)
        over_sequences(kernels.pool.sum_small_rows, "ros", source, offsets, target.view(np.uint64))
    else:
        target = cells_for(result, native)
        over_sequences(kernels.pool.best_small_rows, "ro.s", source, offsets, pool_type == "min", target.view(bits))
    convert_into(target, result)


def _pool_durations(where: str, x: Any, pool_type: str, pad_value: Any, level: int, out: Array | None) -> Any:
    """Pool durations as integers, exactly, even where the sum for a mean exceeds int64; NaT propagates."""
    values, k = x.values, lod_body.normalize_level(x.lod, level, where)
    dtype, offsets = native_dtype(values.dtype), np.asarray(lod_body.in_rows(x.lod, k))
    lod, lengths = lod_body.make_lod([offsets], len(values)), np.diff(offsets)
    row = np.zeros((1, *values.shape[1:]), dtype)
    if not _is_default(pad_value):
        row = empty_row(where, pad_value, values.shape[1:], dtype)
    result = result_rows(where, values, len(lengths), dtype, out)

    def pooled(numbers: Array, name: str) -> Array:
        made: Array = pool(where, lod_tensor_body.new_tensor(numbers, lod), name, ZERO, 0, None, None)
        return made

    numbers, lost = values.astype(np.int64), np.isnat(values)
    if pool_type == "mean":
        counts = np.maximum(lengths, 1).reshape(-1, *[1] * (values.ndim - 1))
        high, rest = np.divmod(pooled(numbers >> HALF, "sum"), counts)  # the sums of halves of the bits are exact
        low, rest = np.divmod((rest << HALF) + pooled(numbers & 2**HALF - 1, "sum"), counts)
        found = (high << HALF) + low
        found += (found < 0) & (rest > 0)  # toward zero
    else:
        found = pooled(numbers, pool_type)
    if lost.any():
        found[pooled(lost, "max")] = np.iinfo(np.int64).min
    result[...] = found.view(dtype)
    result[lengths == 0] = row
    return result if k == 0 else with_levels(result, x.lod, k)


def name_of(pool_type: Any) -> str:
    """Return a pool_type as a hashable key."""
    return pool_type if isinstance(pool_type, str) else repr(pool_type)


@functools.cache
def numbers_of(where: str, pool_type: str, dtype: np.dtype[Any], name: str = "x") -> tuple[Any, np.dtype[Any]]:
    """Return the dtype of the computation (None if rows are only copied), and that of the result.

    Raises
    ------
    ValueError
        If pool_type is unknown.
    DTypeError
        If the dtype does not support pool_type.
    """
    if pool_type not in POOL_TYPES:
        known = ", ".join(f'"{name}"' for name in POOL_TYPES)
        raise ValueError(f"{where}: pool_type: is {pool_type!r}; one of {known} is needed")
    if pool_type in ("first", "last"):
        return None, dtype
    kinds = "biufc" if pool_type in DIVIDE else "biuf"
    if dtype.kind not in kinds or dtype.itemsize > (16 if dtype.kind == "c" else 8):
        numbers = "numbers" if pool_type in DIVIDE else "real numbers"
        use = f" for {pool_type!r}" if where == "sequence_pool" else ""
        raise DTypeError(f"{where}: {name}: has dtype {dtype}; {numbers} of at most float64 are needed{use}")
    if dtype.kind == "c":
        return np.dtype(np.float32 if dtype.itemsize == 8 else np.float64), dtype
    if dtype.kind == "f":
        return (np.dtype(np.float32), dtype) if dtype.itemsize == 2 else (dtype, dtype)
    whole = np.dtype(np.uint64 if dtype.kind == "u" else np.int64)
    if pool_type == "sum":
        return whole, whole
    return (whole, dtype) if pool_type in ("max", "min") else (np.dtype(np.float64), np.dtype(np.float64))


def result_rows(
    where: str, values: Array, count: int, dtype: np.dtype[Any], out: Array | None, *inputs: Array
) -> Array:
    """Make, or check, the array for `count` rows with the shape of those of `values` and a given dtype."""
    if out is not None:
        return check_out(where, out, (count, *values.shape[1:]), dtype, values, *inputs)
    if values.dtype != dtype:
        values = np.empty((0, *values.shape[1:]), dtype)
    return buffers.new_rows(where, values, count)


def cells_of(values: Array, work: np.dtype[Any] | None) -> Array:
    """Return rows as a matrix of the dtype in which a kernel computes: a view, or a converted copy."""
    if work is None or values.dtype == work or values.dtype.kind == "c":
        return buffers.as_cells(values, work)
    return buffers.as_cells(values.astype(work))


def cells_for(result: Array, work: np.dtype[Any]) -> Array:
    """Return the matrix that a kernel writes to: a view of the result, or an array for `convert_into`."""
    if result.dtype == work or result.dtype.kind == "c":
        return buffers.as_cells(result, work)
    return buffers.as_cells(np.empty(result.shape, work))


def convert_into(cells: Array, result: Array) -> None:
    """Convert the matrix that a kernel has written into the result, unless it is a view of it."""
    if not np.may_share_memory(cells, result):
        with np.errstate(all="ignore"):
            np.copyto(result, cells.reshape(result.shape), casting="unsafe")


def along_axis(x: Array, axis: int) -> tuple[Array, Array]:
    """Return numbers as rows, and the offsets of the sequences of them that lie along an axis."""
    count, width = math.prod(x.shape[: axis + 1]), math.prod(x.shape[axis + 1 :])
    rows = np.ascontiguousarray(x, np.dtype(x.dtype.char)).reshape(count, width)
    return rows, np.arange(0, count + 1, max(x.shape[axis], 1), dtype=np.int64)


def extremes(x: Array, axis: int, is_min: bool) -> Array:
    """Return the extreme float32 or float64 along an axis, nan if there is one; the axis is kept, with length 1.

    NumPy takes a loop for each row, which is slow for short rows.
    """
    made = np.empty((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype.char)
    rows, bounds = along_axis(x, axis)
    cells = made.reshape(len(bounds) - 1, rows.shape[1])
    over_sequences(kernels.pool.best_rows, "ro.s", rows, bounds, is_min, cells)
    return made


def _is_default(pad_value: Any) -> bool:
    """Return whether this is the default, even if it comes from a file."""
    return pad_value is ZERO or (type(pad_value) is float and pad_value == 0 and math.copysign(1, pad_value) > 0)


def empty_row(where: str, pad_value: Any, row_shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return the row of an empty sequence, shape (1, ...).

    Raises
    ------
    ShapeError, DTypeError
        If pad_value is neither a scalar nor a row, or the dtype cannot hold it.
    """
    if isinstance(pad_value, float) and dtype.char in "fd" and not LARGEST < abs(pad_value) < math.inf:
        row = np.empty((1, *row_shape), dtype)
        row.fill(pad_value)
        return row
    try:
        given = np.asarray(pad_value)
    except ValueError:
        raise ShapeError(f"{where}: pad_value: is nested unevenly; a number or a row is needed") from None
    if given.shape not in ((), (1,), row_shape):
        raise ShapeError(
            f"{where}: pad_value: has shape {given.shape}; () or the shape of a row, {row_shape}, is needed"
        )
    row = np.zeros((1, *row_shape), dtype)
    if dtype.kind in "SUV" and given.dtype.kind in "iuf" and not given.any():
        return row
    hold(f"{where}: pad_value", pad_value, row)
    return row
