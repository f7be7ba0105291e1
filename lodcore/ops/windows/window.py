"""Operators on windows of rows: convolutions that never cross the end of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.caller import named_caller
from lodcore.base.memory import check_out, check_size
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import dense_of, fits, integer_of, level_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Nested
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["row_conv", "sequence_conv"]

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
NO_PADDING = buffers.as_bytes(np.empty((0, 0), np.uint8))  # for a kernel: rows of zeros
CACHED = 2**20  # bytes of windows and products that are computed at a time
SMALL = 64  # up to this many rows are multiplied at once


# -- every window times one matrix -------------------------------------------------------------------------------------


@operator(x=Nested, filter=Dense, padding_data=Dense)
def sequence_conv(
    x: Any,
    filter: Any,
    context_length: int,
    context_start: int | None = None,
    padding_data: Any = None,
    level: int = -1,
    out: Array | None = None,
) -> Any:
    """Multiply the window of rows around each row by a matrix.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of shape (width,), or numbers, which are rows of width 1.
    filter : array_like, shape (context_length * width, new_width)
        The first `width` rows are multiplied by the first row of a window.
    context_length : int
        The number of rows per window, at least 1.
    context_start : int, optional
        The first row of a window relative to its own row, before it if negative; by default -(context_length // 2).
    padding_data : array_like, optional
        shape (before + after, width) with before = max(0, -context_start) and
        after = max(0, context_start + context_length - 1): the rows before the beginning of each sequence, followed by
        those after its end; by default zeros.
    level : int
        The level of the sequences that windows do not cross.
    out : ndarray, optional
        shape (number of rows, new_width): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has the LoD of x and rows of shape (new_width,), float32 or float64 by NumPy's promotion.

    Raises
    ------
    ShapeError, DTypeError, ValueError, LevelError
        If filter or padding_data have another shape, the common dtype is not float32 or float64, context_length is
        below 1, or the level does not exist.

    Notes
    -----
    ::

        out[t] = sum(row(t + context_start + j) @ filter[j * width : (j + 1) * width] for j in range(context_length))

    Examples
    --------
    Add to each row its right neighbour in the sequence:

    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0, 3.0], [4.0]])
    >>> lodcore.sequence_conv(x, [[1.0], [1.0]], context_length=2, context_start=0).values[:, 0]
    array([3., 5., 3., 4.])
    """
    weights, padding = _dense(filter, padding_data)
    start, length = _window(context_length, context_start)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, "sequence_conv"))
    values = x.values  # read after all conversions of arguments, which may run code that changes the shape
    _check_filter(values.shape, weights.shape, None if padding is None else padding.shape, start, length)
    width: int = 1 if values.ndim == 1 else values.shape[1]
    dtype = _common_dtype("sequence_conv", values.dtype, weights.dtype, None if padding is None else padding.dtype)
    n_rows = len(values)
    if out is not None:
        out = check_out(
            "sequence_conv",
            out,
            (n_rows, weights.shape[1]),
            dtype,
            values,
            weights,
            *([] if padding is None else [padding]),
        )
    if weights.dtype != dtype:
        weights = weights.astype(dtype)
    if padding is not None and len(padding):
        edge, first, stop = _padding_bytes(padding, dtype), 0, length
    else:
        edge, first, stop = NO_PADDING, 0, length
        if n_rows > SMALL or not -SMALL < start < SMALL:
            start, first, stop = _useful(offsets, n_rows, start, length, weights)
            weights = weights[first * width : stop * width]
        if stop - first == 1 and start == 0:
            rows = values.astype(dtype, copy=False).reshape(n_rows, width)
            return lod_tensor_body.new_tensor(_product(rows, weights, out), x.lod)
    rows = lod_tensor_body.rows_as_bytes(x) if values.dtype == dtype else buffers.as_bytes(values.astype(dtype))
    return lod_tensor_body.new_tensor(
        _times_windows(rows, offsets, edge, start, stop - first, weights, n_rows, out), x.lod
    )


@sequence_conv.define_infer
def _(
    x: Spec, filter: Spec, context_length: int, context_start: int | None, padding_data: Spec | None, level: int
) -> Spec:
    weights, padding = _dense(filter, padding_data)
    start, length = _window(context_length, context_start)
    level_of("sequence_conv", x, level)
    _check_filter(x.shape, weights.shape, None if padding is None else padding.shape, start, length)
    dtype = _common_dtype("sequence_conv", x.dtype, weights.dtype, None if padding is None else padding.dtype)
    return Spec((x.shape[0], weights.shape[1]), dtype)


def _dense(filter: Any, padding_data: Any) -> tuple[Any, Any]:
    """Return the dense arguments as arrays, or Specs."""
    padding = None if padding_data is None else dense_of("sequence_conv: padding_data", padding_data)
    return dense_of("sequence_conv: filter", filter), padding


@sequence_conv.define_vjp
def _(
    d_out: Array,
    x: LoDTensor,
    filter: Any,
    context_length: int,
    context_start: int | None,
    padding_data: Any,
    level: int,
    needs: Any,
    context: Any,
) -> tuple[Any, Any, Any]:
    weights, padding = _dense(filter, padding_data)
    values, dtype, n_rows = x.values, d_out.dtype, len(d_out)
    start, length = _window(context_length, context_start)
    width, new_width = weights.shape[0] // length, weights.shape[1]
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))
    padded = padding is not None and len(padding) > 0
    begin, first, stop = (start, 0, length) if padded else _useful(offsets, n_rows, start, length, weights)
    d_x = d_filter = d_padding = None
    # a tap that reaches j rows ahead in the forward pass reaches j rows back in the backward pass
    taps = np.asarray(weights, dtype).reshape(length, width, new_width)[::-1].transpose(0, 2, 1)
    back = np.ascontiguousarray(taps).reshape(length * new_width, width)
    if needs.x:
        d_x = context.new("x")
        some = back[(length - stop) * new_width : (length - first) * new_width]
        into = d_x.reshape(n_rows, width) if d_x.dtype == dtype else None
        rows = buffers.as_bytes(d_out)
        made = _times_windows(rows, offsets, NO_PADDING, 1 - begin - (stop - first), stop - first, some, n_rows, into)
        d_x = d_x if into is not None else made.reshape(values.shape)
    if needs.filter:
        rows = lod_tensor_body.rows_as_bytes(x) if values.dtype == dtype else buffers.as_bytes(values.astype(dtype))
        edge = _padding_bytes(padding, dtype) if padded else NO_PADDING
        d_filter = np.zeros((length * width, new_width), dtype)
        _add_products(rows, offsets, edge, begin, stop - first, d_out, d_filter[first * width : stop * width])
    if padding is not None and needs.padding_data:
        d_padding = _padding_gradient(d_out, offsets, start, length, back).reshape(padding.shape)
    return d_x, d_filter, d_padding


def _blocks(n_rows: int, width: int, new_width: int, itemsize: int) -> int:
    """Compute the number of windows that are multiplied at a time, at least 1; they should fit in cache."""
    size = (width + new_width) * itemsize
    if n_rows * size <= CACHED:
        return n_rows or 1
    return min(n_rows, max(CACHED // size, min(256, 2**28 // size), 1))


def _product(left: Array, right: Array, out: Array | None = None) -> Array:
    """Multiply matrices; multiply by a single number entry by entry, since `dot` returns 0 for 0 times nan there."""
    single = left.size == 1 or right.size == 1
    with named_caller():
        product: Array = np.multiply(left, right, out) if single else left.dot(right, out)
    return product


def _times_windows(
    rows: Any,
    offsets: Any,
    padding: Any,
    start: int,
    length: int,
    matrix: Array,
    n_rows: int,
    out: Array | None = None,
) -> Array:
    """Multiply the windows of all rows by a matrix, a block of rows at a time."""
    width, new_width = matrix.shape
    itemsize = matrix.dtype.itemsize
    some = _blocks(n_rows, width, new_width, itemsize)
    columns = np.empty((some, width), matrix.dtype)
    if some == n_rows and out is None:
        kernels.window.copy_windows(rows, offsets, padding, start, length, 0, buffers.as_bytes(columns))
        return _product(columns, matrix)
    if out is None:
        check_size("sequence_conv", n_rows, new_width, itemsize)
        out = np.empty((n_rows, new_width), matrix.dtype)
    for at in range(0, n_rows, some):
        block = columns[: n_rows - at]
        kernels.window.copy_windows(rows, offsets, padding, start, length, at, buffers.as_bytes(block))
        _product(block, matrix, out[at : at + some])
    return out


def _add_products(
    rows: Any, offsets: Any, padding: Any, start: int, length: int, d_out: Array, d_filter: Array
) -> None:
    """Sum the products of windows and cotangents, a block of rows at a time."""
    n_rows, width = len(d_out), d_filter.shape[0]
    some = _blocks(n_rows, width, d_filter.shape[1], d_out.dtype.itemsize)
    columns, product = np.empty((some, width), d_out.dtype), np.empty_like(d_filter)
    for at in range(0, n_rows, some):
        block = columns[: n_rows - at]
        kernels.window.copy_windows(rows, offsets, padding, start, length, at, buffers.as_bytes(block))
        _product(block.T, d_out[at : at + some], product)
        d_filter += product


def _padding_gradient(d_out: Array, offsets: Any, start: int, length: int, back: Array) -> Array:
    """Compute the gradient of the rows of padding, which are in the windows of the first and last rows of sequences."""
    before, after = max(0, -start), max(0, start + length - 1)
    if not back.size:
        return np.zeros((before + after, back.shape[1]))
    sums = np.empty((before + after, d_out.shape[1]))
    kernels.window.sum_edges(d_out, offsets, before, after, sums)
    matrix = back.astype(sums.dtype)
    parts = []
    for edge, first in ((sums[:before], 1 - length), (sums[before:], 0)):
        ends = np.array([0, len(edge)], np.int64)
        parts.append(_times_windows(buffers.as_bytes(edge), ends, NO_PADDING, first, length, matrix, len(edge)))
    return np.concatenate(parts)


def _useful(offsets: Any, n_rows: int, start: int, length: int, weights: Array) -> tuple[int, int, int]:
    """Skip the taps for which no sequence is long enough; return the start of windows, the first tap, and the stop."""
    if n_rows >= (len(offsets) - 1) * max(1 - start, start + length) and -n_rows <= start <= n_rows:
        return start, 0, length  # the average sequence is long enough
    longest = kernels.lod.max_length(offsets)
    first = min(max(0, 1 - longest - start), length)
    stop = max(min(length, longest - start), first)
    if stop - first < length and not np.isfinite(weights).all():  # skipped taps would turn zeros into nan
        return min(max(start, -n_rows - length), n_rows), 0, length
    return (start + first if first < stop else 0), first, stop


def _window(context_length: Any, context_start: Any) -> tuple[int, int]:
    """Check and return the start and the length of a window."""
    length = integer_of("sequence_conv: context_length", context_length, 1, 2**31 - 1)
    if context_start is None:
        return -(length // 2), length
    return integer_of("sequence_conv: context_start", context_start), length


def _check_filter(
    rows: tuple[int | None, ...],
    weights: tuple[int | None, ...],
    padding: tuple[int | None, ...] | None,
    start: int,
    length: int,
) -> None:
    """Check the shapes of rows, filter and padding; sizes of Specs may be None."""
    if not rows:
        raise DTypeError("sequence_conv: x: is a number; a LoDTensor or nested lists are needed")
    if len(rows) > 2:
        raise ShapeError(f"sequence_conv: x: has rows of shape {rows[1:]}; (width,) or numbers are needed")
    width = 1 if len(rows) == 1 else rows[1]
    if width is None and len(weights) == 2 and weights[0] is not None and weights[0] % length == 0:
        width = weights[0] // length
    if not fits(weights, None if width is None else length * width, None):
        raise ShapeError(
            f"sequence_conv: filter: has shape {weights}; ({length} * {width}, new width) is needed, "
            "context_length * the width of x"
        )
    if padding is not None:
        before = -start if start < 0 else 0
        after = start + length - 1 if start + length > 0 else 0
        if not fits(padding, before + after, width) and not (len(rows) == 1 and fits(padding, before + after)):
            raise ShapeError(
                f"sequence_conv: padding_data: has shape {padding}; ({before + after}, {width}) is needed, "
                f"{before} rows before and {after} after"
            )


def _padding_bytes(padding: Array, dtype: np.dtype[Any]) -> Array:
    """Return rows of padding for a kernel."""
    if padding.dtype != dtype or not buffers.is_plain(padding):
        padding = np.ascontiguousarray(padding, dtype)
    return buffers.as_bytes(padding)


# -- column by column --------------------------------------------------------------------------------------------------


@operator(x=Nested, filter=Dense)
def row_conv(x: Any, filter: Any, level: int = -1, out: Array | None = None) -> Any:
    """Compute the weighted sum, column by column, of each row and the rows after it in its sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Rows of any shape.
    filter : array_like, shape (context_length, ...)
        Rows with the shape of those of x; (context_length,) or (context_length, 1) for numbers.
    level : int
        The level of the sequences that windows do not cross.
    out : ndarray, optional
        The array to write the rows to, with the shape of the values of x.

    Returns
    -------
    LoDTensor
        Has the LoD and the row shape of x, float32 or float64 by NumPy's promotion.

    Raises
    ------
    ShapeError, DTypeError, LevelError
        If the filter has no rows, or rows of another shape, the common dtype is not float32 or float64, or the level
        does not exist.

    Notes
    -----
    ``out[t] = x[t] * filter[0] + x[t + 1] * filter[1] + ...`` up to the end of the sequence, added in this order.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.row_conv([[1.0, 2.0, 3.0], [4.0]], [1.0, 10.0])
    LoDTensor(2 sequences of lengths 1..3, float64: [[21., 32., 3.], [4.]])
    """
    weights = dense_of("row_conv: filter", filter)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, "row_conv"))
    values = x.values  # read after all conversions of arguments, which may run code that changes the shape
    _check_taps(values.shape, weights.shape)
    dtype = _common_dtype("row_conv", values.dtype, weights.dtype)
    if out is None:
        out = np.empty(values.shape, dtype)
    else:
        out = check_out("row_conv", out, values.shape, dtype, values, weights)
    rows, taps = _table(values, dtype), _table(weights, dtype)
    over_sequences(kernels.window.correlate_rows, "ro.r", rows, offsets, taps, _table(out, dtype), cost=2)
    return lod_tensor_body.new_tensor(out, x.lod)


@row_conv.define_infer
def _(x: Spec, filter: Spec, level: int) -> Spec:
    weights = dense_of("row_conv: filter", filter)
    level_of("row_conv", x, level)
    _check_taps(x.shape, weights.shape)
    return Spec(x.shape, _common_dtype("row_conv", x.dtype, weights.dtype))


@row_conv.define_vjp
def _(d_out: Array, x: LoDTensor, filter: Any, level: int, needs: Any, context: Any) -> tuple[Any, Any]:
    weights, dtype = dense_of("row_conv: filter", filter), d_out.dtype
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level))
    rows = _table(d_out, dtype)
    d_x = d_filter = None
    if needs.x:
        d_x = context.new("x")
        d_x = d_x if d_x.dtype == dtype else np.empty(d_x.shape, dtype)
        taps = _table(weights, dtype)
        over_sequences(kernels.window.convolve_rows, "ro.r", rows, offsets, taps, _table(d_x, dtype), cost=2)
    if needs.filter:
        d_filter = np.empty(weights.shape)
        kernels.window.sum_lagged_products(_table(x.values, dtype), rows, offsets, _table(d_filter, DOUBLE))
    return d_x, d_filter


def _check_taps(rows: tuple[int | None, ...], weights: tuple[int | None, ...]) -> None:
    """Check that a filter has rows with the shape of those of x."""
    if not weights or weights[0] == 0:
        raise ShapeError(f"row_conv: filter: has shape {weights}; at least one row is needed")
    if not fits(weights[1:] or (1,), *(rows[1:] or (1,))):  # a row may be a number
        raise ShapeError(f"row_conv: filter: has rows of shape {weights[1:]}; x has {rows[1:]}")


def _table(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return an array for a kernel: contiguous, with a given dtype and one axis for the values of a row."""
    if array.dtype != dtype or not array.flags.c_contiguous:
        array = np.ascontiguousarray(array, dtype)
    return array if array.ndim == 2 else buffers.as_cells(array)


# -- checks ------------------------------------------------------------------------------------------------------------


def _common_dtype(where: str, x: np.dtype[Any], filter: np.dtype[Any], padding: Any = None) -> np.dtype[Any]:
    """Return the dtype of the computation."""
    if x == filter and (padding is None or padding == x) and x in (SINGLE, DOUBLE):
        return x
    try:
        dtype = np.result_type(x, filter, *([] if padding is None else [padding]))
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in (SINGLE, DOUBLE):
        found = f"{x}, {filter}" if padding is None else f"{x}, {filter}, {padding}"
        what = "x, filter" if padding is None else "x, filter, padding_data"
        raise DTypeError(f"{where}: {what}: have dtypes {found}; float32 or float64 is needed")
    return dtype
