"""Operators between sequences and padded arrays, and the mask of their lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_apart, integer
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, LevelError, ShapeError
from lodcore.operators.arguments import each_of, given_of, integer_of, level_of
from lodcore.operators.copies import sum_copies
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.operands import Array
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Index, Nested
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, as_dtype, as_values
from lodcore.tensors.padding import NO_FILL, fill_row, padded_length
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_mask", "sequence_pad", "sequence_unpad"]

TRUE = np.ones(1, bool)


# -- padding -----------------------------------------------------------------------------------------------------------


@operator(x=Nested, pad_value=Dense, lod_rule=no_lod, results=2)
def sequence_pad(
    x: Any, pad_value: Any = 0.0, maxlen: int | None = None, level: int = -1, out: Array | None = None
) -> tuple[Array, Array]:
    """Pad the sequences of the last level to one length.

    Parameters
    ----------
    x : LoDTensor or nested lists
    pad_value : number, or array_like of one row's shape
        The value of the padding, which the dtype of x must be able to hold. Strings and records are padded with zero
        bytes by default; for dates and durations a number counts units, so 0 is 1970-01-01: give NaT instead.
    maxlen : int, optional
        The length after padding, at least that of the longest sequence, which is the default.
    level : int
        Must be the last level, since a dense result has no other levels.
    out : ndarray, optional
        shape (n, maxlen, ...): the array to write to.

    Returns
    -------
    dense : ndarray
        shape (n, maxlen, ...), for n sequences of the last level.
    lengths : ndarray
        int64, shape (n,).

    Raises
    ------
    ValueError
        If `maxlen` is below the longest sequence.
    ShapeError, DTypeError
        If `pad_value` is neither a number nor a row, or the dtype of x cannot hold it.
    LevelError
        If the level does not exist, or is not the last.

    Examples
    --------
    >>> import lodcore
    >>> dense, lengths = lodcore.sequence_pad([[1, 2], [], [3]], -1)
    >>> dense
    array([[ 1,  2],
           [-1, -1],
           [ 3, -1]])
    >>> lengths
    array([2, 0, 1])
    """
    where = "sequence_pad"
    lod, values = x.lod, x.values
    k = lod_body.normalize_level(lod, level, where)
    if k + 1 < lod.num_levels:
        _last_level(where, lod, level)
    offsets = lod_body.offsets_view(lod, k)
    padded = kernels.lod.max_length(offsets)
    if maxlen is not None:
        padded = padded_length(where, "maxlen", padded, maxlen)
    fill = NO_FILL if type(pad_value) is float and pad_value == 0 else _fill_of(pad_value, values)
    dense: Array = buffers.new_lines(where, values, len(offsets) - 1, padded, out)
    over_sequences(
        kernels.pad.pad_rows, "ro..s", lod_tensor_body.rows_as_bytes(x), offsets, fill, False, buffers.as_lines(dense)
    )
    return dense if out is None else out, lod.lengths(k)


def _last_level(where: str, of: Any, level: Any) -> int:
    """Return a level, which must be the last."""
    k = level_of(where, of, level)
    if k + 1 != of.num_levels:
        raise LevelError(f"{where}: level: is {level}; only the last of {of.num_levels} levels can be padded")
    return k


def _fill_of(pad_value: Any, values: Array) -> Array:
    """Return one row of the padding, as bytes."""
    where = "sequence_pad: pad_value"
    _check_fill(where, np.shape(as_array(where, pad_value)), values.shape[1:])
    return fill_row(where, pad_value, values)


def _check_fill(where: str, shape: tuple[int | None, ...], row: tuple[int | None, ...]) -> None:
    """Check that the padding is a number or a row."""
    if shape not in ((), (1,), row) and None not in (*shape, *row):
        raise ShapeError(f"{where}: has shape {shape}; a number or a row of shape {row} is needed")


@sequence_pad.define_infer
def _(x: Spec, pad_value: Spec, maxlen: int | None, level: int) -> tuple[Spec, Spec]:
    _last_level("sequence_pad", x, level)
    length = None if maxlen is None else integer("sequence_pad: maxlen", maxlen, bools=True)
    _check_fill("sequence_pad: pad_value", pad_value.shape, x.shape[1:])
    dense = Spec((None, length, *x.shape[1:]), x.dtype)
    return dense, Spec((None,), np.dtype(np.int64))


@sequence_pad.define_vjp
def _(d: Array, d_lengths: None, x: LoDTensor, needs: Any, context: Any) -> tuple[Array | None, Array | None]:
    lod = x.lod
    d_x = d_pad = None
    if needs.x:
        d_x = context.new("x")
        kernels.pad.unpad_rows(
            buffers.as_lines(d), lod_body.offsets_view(lod, lod.num_levels - 1), False, buffers.as_bytes(d_x)
        )
    if needs.pad_value:
        d_pad = context.new("pad_value")
        _sum_fill(d, lod.offsets(-1), d_pad)
    return d_x, d_pad


def _sum_fill(d: Array, offsets: Array, place: Array) -> None:
    """Sum the cotangents of the padding: over all cells for a number, column by column for a row.

    Each line is summed first, then the sums of lines, both in the order of `pool.sum_rows`.
    """
    count, padded = d.shape[:2]
    rows = d.reshape(count * padded, *d.shape[2:])
    if place.shape != d.shape[2:]:  # for a number, each cell is a row
        width = int(np.prod(d.shape[2:]))
        rows, padded, offsets = rows.reshape(-1), padded * width, offsets * width
    bounds = buffers.new_int64(2 * count + 1)
    bounds[::2] = np.arange(count + 1) * padded
    bounds[1::2] = bounds[:-1:2] + offsets[1:] - offsets[:-1]
    sums = np.empty((2 * count, *rows.shape[1:]), d.dtype)
    sum_copies(rows, bounds, sums)
    total = np.empty((1, *rows.shape[1:]), d.dtype)
    sum_copies(np.ascontiguousarray(sums[1::2]), np.array([0, count]), total)
    place[...] = total.reshape(place.shape)


# -- unpadding ---------------------------------------------------------------------------------------------------------


@operator(x=Dense, length=Index, lod_rule="one level, with these lengths")
def sequence_unpad(x: Any, length: Any, out: Array | None = None) -> LoDTensor:
    """Return the first rows of each line of a padded array as a sequence: the inverse of `sequence_pad`.

    Parameters
    ----------
    x : array_like, shape (n, maxlen, ...)
    length : array_like of integers, shape (n,) or (n, 1), or a scalar for all
        0 <= length <= maxlen.
    out : ndarray, optional
        shape (sum of the lengths, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has one level with n sequences.

    Raises
    ------
    IndexError
        If a length is negative or above maxlen; the message names the first one.
    ShapeError, DTypeError
        If x has fewer than two axes, or `length` is not a vector of n integers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_unpad([[1, 2, 0], [0, 0, 0], [3, 0, 0]], [2, 0, 1])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 2], [], [3]])
    """
    where = "sequence_unpad"
    padded = buffers.private(x) if buffers.is_plain(x) else _padded(x)
    _check_padded(padded.shape)
    count, longest = padded.shape[:2]
    lengths = buffers.for_each(length, "sequence_unpad: length", count)
    offsets = buffers.new_offsets(count + 1)
    bad = kernels.lod.offsets_from_lengths(lengths, offsets)
    if bad < 0 and kernels.lod.max_length(offsets) > longest:
        bad = int(np.argmax(offsets[1:] - offsets[:-1] > longest))
    if bad >= 0:
        raise IndexError(f"{where}: length: is {lengths[bad]} for sequence {bad}; its line has {longest} rows")
    if out is not None:
        check_apart(where, out, length)
    rows = buffers.new_rows(where, padded, offsets.item(count), out, 2)
    over_sequences(kernels.pad.unpad_rows, "so.r", buffers.as_lines(padded), offsets, False, buffers.as_bytes(rows))
    return lod_tensor_body.owned_tensor(rows, lod_body.make_lod([offsets], len(rows)))


def _padded(x: Any) -> Array:
    """Return a padded array that is not a plain ndarray."""
    where = "sequence_unpad: x"
    if isinstance(x, LoDTensor):
        _check_no_levels(x)
        x = x.values
    _check_padded(np.shape(x))
    return as_values(where, x)


def _check_no_levels(x: Any) -> None:
    """Raise if the argument for a padded array has levels."""
    if x.num_levels:
        raise DTypeError("sequence_unpad: x: is a LoDTensor with levels; a padded array is needed")


def _check_padded(shape: tuple[int | None, ...]) -> None:
    """Raise if an array has fewer than two axes."""
    if len(shape) < 2:
        raise ShapeError(f"sequence_unpad: x: has shape {shape}; (n, maxlen, ...) is needed")


@sequence_unpad.define_infer
def _(x: Spec, length: Any) -> Spec:
    _check_no_levels(x)
    _check_padded(x.shape)
    each_of("sequence_unpad: length", length, x.shape[0])
    return Spec((None, *x.shape[2:]), x.dtype, 1)


@sequence_unpad.define_vjp
def _(d: Array, out: LoDTensor, context: Any) -> tuple[Array, None]:
    d_x = context.new("x")
    kernels.pad.pad_rows(buffers.as_bytes(d), lod_body.offsets_view(out.lod, 0), NO_FILL, False, buffers.as_lines(d_x))
    return d_x, None


# -- masks -------------------------------------------------------------------------------------------------------------


@operator(lengths=Index, lod_rule=no_lod, differentiable=False)
def sequence_mask(lengths: Any, maxlen: int | None = None, dtype: Any = bool) -> Array:
    """Return, for each position of each line, whether it is before the end of the sequence.

    Parameters
    ----------
    lengths : array_like of integers, any shape
        0 or more; lengths above maxlen are clipped to it.
    maxlen : int, optional
        By default the greatest length, or 0 without lengths.
    dtype : dtype_like
        A dtype of bool or numbers.

    Returns
    -------
    ndarray
        shape `(*lengths.shape, maxlen)`: 1 before the length, 0 after it.

    Raises
    ------
    IndexError
        If a length is negative; the message names the first one.
    ValueError
        If maxlen is negative.
    DTypeError
        If the lengths are not integers, or dtype is not one of bool or numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_mask([2, 0, 3], dtype="int8")
    array([[1, 1, 0],
           [0, 0, 0],
           [1, 1, 1]], dtype=int8)
    """
    where = "sequence_mask"
    counts, shape = _lengths(f"{where}: lengths", lengths)
    like = TRUE if dtype is bool else _one(dtype)
    maxlen = kernels.pad.greatest(counts) if maxlen is None else integer_of(f"{where}: maxlen", maxlen, 0)
    mask: Array = buffers.new_lines(where, like, len(counts), maxlen)
    bad = kernels.pad.mask_rows(counts, like.view(np.uint8), buffers.as_lines(mask))
    if bad >= 0:
        raise IndexError(f"{where}: lengths: is {counts[bad]} for sequence {bad}; 0 or more is needed")
    return mask if len(shape) == 1 else mask.reshape(*shape, maxlen)


def _one(dtype: Any) -> Array:
    """Return a 1 of a dtype."""
    made = as_dtype("sequence_mask", dtype)
    if made is None or made.kind not in "biufc":
        raise DTypeError(f"sequence_mask: dtype: is {made}; one of numbers or bool is needed")
    return np.ones(1, made)


def _lengths(where: str, given: Any) -> tuple[Array, tuple[int, ...]]:
    """Return integers of any shape as a vector, and their shape."""
    if type(given) is np.ndarray and given.ndim == 1:
        return buffers.as_int64(given, where, IndexError), given.shape
    _refuse_nested(where, type(given))
    if type(given) is not np.ndarray:
        empty = isinstance(given, (list, tuple)) and not given
        given = buffers.new_int64(0) if empty else as_array(where, given_of(where, given))
    return buffers.as_int64(given.reshape(-1), where, IndexError), given.shape


def _refuse_nested(where: str, kind: type) -> None:
    """Raise for lengths in a LoDTensor."""
    if issubclass(kind, LoDTensor):
        raise DTypeError(f"{where}: is a LoDTensor; an array of integers is needed (x.lod.lengths() returns one)")


@sequence_mask.define_infer
def _(lengths: Any, maxlen: int | None, dtype: Any) -> Spec:
    where = "sequence_mask: lengths"
    if type(lengths) is Spec:
        _refuse_nested(where, lengths.kind)
        if lengths.dtype.kind not in "iu":
            raise DTypeError(f"{where}: has dtype {lengths.dtype}; integers are needed")
        shape = lengths.shape
    else:
        shape = _lengths(where, lengths)[1]
    made = _one(dtype).dtype
    size = None if maxlen is None else integer_of("sequence_mask: maxlen", maxlen, 0)
    return Spec((*shape, size), made)
