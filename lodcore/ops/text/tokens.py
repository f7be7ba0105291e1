"""Operators on rows of token numbers: windows, removal of tokens, and scattering to numbered columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import as_integer, check_out, check_size, unharmed
from lodcore.base.threads import get_num_threads, in_parts, parts
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import dense_of, each_of, integer_of, level_of, nested_index_of
from lodcore.operators.operands import Array, check_equal, unbroadcast
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Index, Nested, NestedIndex, Updates
from lodcore.ops.windows.window import DOUBLE, NO_PADDING, SINGLE
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_enumerate", "sequence_erase", "sequence_scatter"]

INT64 = np.dtype(np.int64)
LIMITS = {dtype: (np.iinfo(dtype).min, np.iinfo(dtype).max) for dtype in map(np.dtype, "bhilqBHILQ")}
SMALL = 64  # windows up to this size need no check of the total size
UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


# -- windows -----------------------------------------------------------------------------------------------------------


@operator(x=Nested, differentiable=False)
def sequence_enumerate(x: Any, win_size: int, pad_value: int = 0, level: int = -1, out: Array | None = None) -> Any:
    """Return one n-gram per row: the row's number and the following ones.

    Parameters
    ----------
    x : LoDTensor or nested lists of integers
        Rows of shape () or (1,), of any integer dtype.
    win_size : int
        The number of tokens per window, at least 1.
    pad_value : int, default 0
        The value of positions beyond the end of the sequence.
    level : int
        The level of the sequences that windows do not cross.
    out : ndarray, optional
        shape (number of rows, win_size): the array to write the windows to.

    Returns
    -------
    LoDTensor
        Has the LoD and the dtype of x, and rows of shape (win_size,).

    Raises
    ------
    DTypeError, ShapeError, ValueError, LevelError
        If x does not hold integers, or several per row, win_size is below 1, the dtype cannot hold pad_value, or the
        level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_enumerate([[1, 2, 3], [4]], 2).values
    array([[1, 2],
           [2, 3],
           [3, 0],
           [4, 0]])
    """
    size = _win_size(win_size)
    filler = integer_of("sequence_enumerate: pad_value", pad_value)
    offsets = lod_body.in_rows(x.lod, lod_body.normalize_level(x.lod, level, "sequence_enumerate"))
    values = x.values  # read after all conversions of arguments, which may run code that changes the shape
    _check_numbers("sequence_enumerate: x", values.shape, values.dtype)
    padding = _padding_row(filler, values.dtype) if filler else NO_PADDING
    shape = (len(values), size)
    if out is not None:
        out = check_out("sequence_enumerate", out, shape, values.dtype, values)
    else:
        if size > SMALL or len(values) > 2**20:
            check_size("sequence_enumerate", *shape, values.dtype.itemsize)
        out = np.empty(shape, values.dtype)
    rows = buffers.as_bytes(out)
    if get_num_threads() == 1:
        kernels.window.copy_windows(lod_tensor_body.rows_as_bytes(x), offsets, padding, 0, size, 0, rows)
        return lod_tensor_body.new_tensor(out, x.lod)

    def copy(start: int, stop: int) -> None:
        low, high = offsets[start], offsets[stop]
        kernels.window.copy_windows(lod_tensor_body.rows_as_bytes(x), offsets, padding, 0, size, low, rows[low:high])

    in_parts(copy, parts(offsets, out.nbytes))
    return lod_tensor_body.new_tensor(out, x.lod)


@sequence_enumerate.define_infer
def _(x: Spec, win_size: int, pad_value: int, level: int) -> Spec:
    size, filler = _win_size(win_size), integer_of("sequence_enumerate: pad_value", pad_value)
    level_of("sequence_enumerate", x, level)
    _check_numbers("sequence_enumerate: x", x.shape, x.dtype)
    if filler:
        _padding_row(filler, x.dtype)
    return Spec((x.shape[0], size), x.dtype)


def _win_size(win_size: Any) -> int:
    """Check the size of a window."""
    return integer_of("sequence_enumerate: win_size", win_size, 1, 2**62 - 1)


def _padding_row(number: int, dtype: np.dtype[Any]) -> Any:
    """Return the row of padding, one number, for a kernel."""
    low, high = LIMITS[dtype]
    if not low <= number <= high:
        raise ValueError(f"sequence_enumerate: pad_value: is {number}; {dtype} holds {low} .. {high}")
    return buffers.as_bytes(np.array([number], dtype))


# -- removal -----------------------------------------------------------------------------------------------------------


@operator(
    x=Nested,
    tokens=Index,
    lod_rule="as `x`, whose sequences of the last level are shorter",
    differentiable=False,
)
def sequence_erase(x: Any, tokens: Any) -> Any:
    """Remove the rows that equal one of several numbers.

    Parameters
    ----------
    x : LoDTensor or nested lists of integers
        Rows of shape () or (1,), of any integer dtype.
    tokens : array_like of integers, shape (n,) or (n, 1), or one integer
        Numbers in any order; those that the dtype of x cannot hold are ignored.

    Returns
    -------
    LoDTensor
        Has the levels, dtype and row shape of x; sequences of the last level are shorter, or empty.

    Raises
    ------
    DTypeError, ShapeError
        If x or tokens do not hold integers, or several per row, or x is an array, which has no level.
    LoDError
        If x is a flat list, or a LoDTensor without levels.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_erase([[2, 2, 6, 1], [9, 2], [1]], [2, 1])
    LoDTensor(3 sequences of lengths 0..1, int64: [[6], [9], []])
    """
    lod = x.lod
    last = lod_body.normalize_level(lod, -1, "sequence_erase")
    offsets = lod_body.offsets_view(lod, last)
    left_out = _tokens(tokens)
    values = x.values  # read after all conversions of arguments, which may run code that changes the shape
    _check_numbers("sequence_erase: x", values.shape, values.dtype)
    numbers = values if values.dtype != UNSIGNED[8] else values.view(INT64)  # tokens are compared by bits
    kept = np.empty(len(numbers), numbers.dtype)
    ends = buffers.new_offsets(len(offsets))
    if isinstance(left_out, list) or numbers is not values:
        left_out = _bits(left_out, numbers is not values)
    kernels.tokens.drop_tokens(numbers if numbers.ndim == 1 else numbers.ravel(), offsets, left_out, kept, ends)
    count = ends.item(len(offsets) - 1)
    if count < len(kept):
        kept.resize(count, refcheck=False)  # nobody else refers to it
    if values.ndim > 1 or numbers is not values:
        kept = kept.view(values.dtype).reshape(count, *values.shape[1:])
    levels = [ends] if last == 0 else [*map(lod.offsets, range(last)), ends]
    return lod_tensor_body.new_tensor(kept, lod_body.make_lod(levels, count))


@sequence_erase.define_infer
def _(x: Spec, tokens: Any) -> Spec:
    level_of("sequence_erase", x, -1)
    _tokens(tokens)
    _check_numbers("sequence_erase: x", x.shape, x.dtype)
    return Spec((None, *x.shape[1:]), x.dtype, x.num_levels)


def _tokens(tokens: Any) -> Any:
    """Return tokens as a vector of int64, or as a list if int64 cannot hold some of them; check a Spec."""
    where = "sequence_erase: tokens"
    if type(tokens) is Spec:
        seen_later = tokens.shape == (0,) or tokens.dtype.hasobject  # for a list of numbers that int64 cannot hold
        return tokens if seen_later else each_of(where, tokens, None)
    if type(tokens) is not list:
        if np.ndim(tokens) == 0:
            tokens = [tokens]
        elif type(tokens) is np.ndarray and tokens.shape == (0,):  # float64 for an empty list
            tokens = []
    try:
        return buffers.as_int64(tokens, where, OverflowError)
    except OverflowError:
        numbers = list(tokens) if isinstance(tokens, (list, tuple)) else np.ravel(tokens).tolist()
    found = [as_integer(number, bools=True) for number in numbers]
    if None in found:
        j = found.index(None)
        raise DTypeError(f"{where}: is {numbers[j]!r} at position {j}; an integer is needed")
    return found


def _bits(tokens: Array | list[int], unsigned: bool) -> Array:
    """Return the tokens that int64 can hold, or those that uint64 can hold, as int64 with the same bits."""
    if not isinstance(tokens, list):
        return tokens[tokens >= 0]
    if unsigned:
        return np.array([number for number in tokens if 0 <= number < 2**64], UNSIGNED[8]).view(INT64)
    return np.array([number for number in tokens if -(2**63) <= number < 2**63], INT64)


def _check_numbers(where: str, shape: tuple[int | None, ...], dtype: np.dtype[Any]) -> None:
    """Check that rows are one integer each."""
    if dtype.kind not in "iu":
        raise DTypeError(f"{where}: has dtype {dtype}; integers are needed")
    if len(shape) > 1 and shape[1:] != (1,):
        raise ShapeError(f"{where}: has rows of shape {shape[1:]}; () or (1,) is needed")


# -- scattering to columns ---------------------------------------------------------------------------------------------


@operator(x=Dense, ids=NestedIndex, updates=Updates, lod_rule="that of `x`")
def sequence_scatter(x: Any, ids: Any, updates: Any, level: int = -1) -> Any:
    """Add numbers to columns of a table with one line per sequence, whose ids select the columns.

    Parameters
    ----------
    x : array_like, shape (n, n_columns, ...)
        One line per sequence of ids; a LoDTensor keeps its LoD.
    ids : LoDTensor or nested lists of integers
        n sequences of rows of shape () or (1,), of any integer dtype, each 0 .. n_columns - 1.
    updates : LoDTensor, nested lists or ndarray
        One row per id: with the LoD of ids, or dense, broadcasting against the rows. A row has the shape of x[i, id]; a
        number may also have shape (1,).
    level : int
        The level of ids that has one sequence per line.

    Returns
    -------
    ndarray, or LoDTensor if x is one
        out = x, then out[i, id] += update for the ids of sequence i, in order; updates of equal ids are all added.

    Raises
    ------
    IndexError
        If an id is out of range; the message names the first one, and its sequence.
    LoDError, ShapeError, DTypeError, LevelError
        If the numbers of sequences and lines differ, ids and updates have different LoDs, rows have other shapes, ids
        are not integers, x or updates are not numbers, or the level does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.sequence_scatter(np.zeros((2, 3)), [[0, 2, 2], [1]], [[1.0, 2.0, 3.0], [4.0]])
    array([[1., 0., 5.],
           [0., 4., 0.]])
    """
    if type(ids) is not LoDTensor:
        ids = nested_index_of("sequence_scatter: ids", ids)
    plain = type(x) is np.ndarray and not x.dtype.hasobject
    lines = x if plain else dense_of("sequence_scatter: x", x, True)
    places, offsets = _places(lines.shape, ids, level)
    rows = _updates(updates, ids.lod, lines)
    dtype, n_columns = rows.dtype, lines.shape[1]
    out = lines.copy() if lines.dtype == dtype else lines.astype(dtype, order="C")
    into = out if out.ndim == 2 else out.reshape(len(out), n_columns * math.prod(out.shape[2:]))
    if rows.ndim > 1:
        rows = rows.ravel()
    if dtype.kind != "f":  # unsigned integers wrap around
        rows, into = rows.view(UNSIGNED[dtype.itemsize]), into.view(UNSIGNED[dtype.itemsize])
    bad = kernels.tokens.add_at(rows, places, offsets, n_columns, into)
    if bad >= 0:
        s = int(np.searchsorted(offsets, bad, "right")) - 1
        raise IndexError(
            f"sequence_scatter: ids: is {ids.values.ravel()[bad]} at row {bad}, in sequence {s}; x has "
            f"{n_columns} columns"
        )
    nested = not plain and isinstance(x, LoDTensor) and x.lod.num_levels
    return lod_tensor_body.new_tensor(out, x.lod) if nested else out


@sequence_scatter.define_infer
def _(x: Spec, ids: Spec, updates: Any, level: int) -> Spec:
    nested_index_of("sequence_scatter: ids", ids)
    lines = dense_of("sequence_scatter: x", x, True)
    _check_lines(lines.shape)
    _check_numbers("sequence_scatter: ids", ids.shape, ids.dtype)
    level_of("sequence_scatter", ids, level)
    if not isinstance(updates, (int, float)):
        updates = dense_of("sequence_scatter: updates", updates, True)
    return Spec(lines.shape, _sum_dtype(lines.dtype, getattr(updates, "dtype", updates)), x.num_levels)


@sequence_scatter.define_vjp
def _(d_out: Array, ids: LoDTensor, updates: Any, level: int, needs: Any) -> tuple[Any, Any, Any]:
    d_updates = None
    if needs.updates:
        shape = dense_of("sequence_scatter: updates", updates, True).shape
        places, offsets = _places(d_out.shape, ids, level)
        taken = np.empty((len(places), *d_out.shape[2:]), d_out.dtype)
        lines = buffers.as_bytes(d_out)
        unharmed(kernels.tokens.take_at(lines, places, offsets, d_out.shape[1], buffers.as_bytes(taken)))
        d_updates = taken.reshape(shape) if taken.ndim == 1 < len(shape) else unbroadcast(taken, shape)
    return d_out, None, d_updates


def _check_lines(shape: tuple[int | None, ...]) -> None:
    """Check that x has columns."""
    if len(shape) < 2:
        raise ShapeError(f"sequence_scatter: x: has shape {shape}; (n, n_columns, ...) is needed")


def _places(shape: tuple[int, ...], ids: LoDTensor, level: int) -> tuple[Array, Any]:
    """Return the ids for a kernel, and the offsets of their sequences in rows."""
    _check_lines(shape)
    values = ids.values
    dtype = values.dtype
    usual = dtype == INT64 and values.ndim == 1
    if not usual:
        _check_numbers("sequence_scatter: ids", values.shape, dtype)
    offsets = lod_body.in_rows(ids.lod, lod_body.normalize_level(ids.lod, level, "sequence_scatter"))
    if len(offsets) - 1 != shape[0]:
        raise LoDError(f"sequence_scatter: ids: has {len(offsets) - 1} sequences; x has {shape[0]} lines")
    if not usual and dtype == UNSIGNED[8]:
        values = np.minimum(values, 2**63 - 1)  # still out of range
    places: Array = buffers.as_int64(values, "sequence_scatter: ids", IndexError)
    return places, offsets


def _updates(updates: Any, lod: LoD, lines: Array) -> Array:
    """Return one row of updates per id, in the dtype of the sums."""
    where = "sequence_scatter: updates"
    if type(updates) is LoDTensor and updates.lod == lod:
        given = updates.values
        dtype = given.dtype
        if dtype == lines.dtype and dtype in (SINGLE, DOUBLE) and given.shape[1:] == lines.shape[2:]:
            return given
    nested = isinstance(updates, LoDTensor)
    if nested:
        rows = updates.values
        if updates.lod is not lod and updates.num_levels:
            check_equal("sequence_scatter", lod, updates.lod, "updates", "ids")
    else:
        rows = updates if type(updates) in (int, float) else dense_of(where, updates)
    dtype = _sum_dtype(lines.dtype, getattr(rows, "dtype", rows))
    rows = np.asarray(rows, dtype)
    shape = (lod.num_rows, *lines.shape[2:])
    if rows.shape != shape:
        if lines.ndim == 2 and rows.shape == (shape[0], 1):
            rows = rows[:, 0]
        elif nested and rows.ndim != len(shape):
            raise ShapeError(f"{where}: has rows of shape {rows.shape[1:]}; {shape[1:]} is needed")
        try:
            rows = np.broadcast_to(rows, shape)
        except ValueError:
            raise ShapeError(f"{where}: has shape {rows.shape}; {shape} is needed, one row per id") from None
    return rows if rows.flags.c_contiguous else np.ascontiguousarray(rows)


def _sum_dtype(x: np.dtype[Any], updates: Any) -> np.dtype[Any]:
    """Return the dtype of the sums."""
    if x == updates and x in (SINGLE, DOUBLE):
        return x
    try:
        dtype = np.result_type(x, updates)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "iu" and dtype not in (SINGLE, DOUBLE):
        raise DTypeError(f"sequence_scatter: x, updates: make dtype {dtype}; integers, float32 or float64 are needed")
    return dtype
