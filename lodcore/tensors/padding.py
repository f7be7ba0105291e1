"""Padded arrays: the lengths of lines, the padding, and the selection of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.dtypes import is_held, room_for
from lodcore.base.memory import check_out, check_size, integer
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import as_array, as_values, with_dates

__all__ = [
    "NO_FILL",
    "fill_row",
    "hold",
    "is_left",
    "lines_of",
    "mask_of",
    "padded",
    "padded_length",
    "padded_lengths",
    "unpadded",
]

Array = np.ndarray[Any, Any]

#: Zero bytes, for rows of any size.
NO_FILL: Array = np.empty(0, np.uint8)
NO_FILL.flags.writeable = False


def lines_of(where: str, lod: LoD, first: int, sizes: list[int], left: bool) -> Array:
    """Return the lines of a dense array with one axis per level from `first` on, as offsets in rows.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    lod : LoD
    first : int
    sizes : list of int
        The sizes of the axes between the first and the last: the number of sequences for which a line of lines has
        room.
    left : bool
        Whether the empty lines of missing sequences come first.
    """
    bounds: Array = lod.offsets(first)
    for k, size in enumerate(sizes, first + 1):
        lengths = np.diff(bounds)[:, None]
        check_size(where, len(lengths), size, 8)
        places = np.arange(size) - (size - lengths if left else 0)
        begins = bounds[:-1, None] + np.clip(places, 0, lengths)
        bounds = lod.offsets(k)[np.append(begins, bounds[-1])]
    return bounds


def fill_row(where: str, given: Any, values: Array) -> Array:
    """Return one row of the padding, as bytes; no bytes mean zeros."""
    if type(given) is int and given == 0 and values.dtype.kind not in "SU":
        return NO_FILL
    fill: Array = buffers.new_rows(where, values, 1)
    hold(where, given, fill)
    row: Array = buffers.as_bytes(fill)[0]
    return row


def hold(where: str, given: Any, row: Array) -> None:
    """Write a caller's value into a row; raise if its dtype would change the value."""
    try:
        made = np.asarray(given)
    except ValueError:
        raise ShapeError(f"{where}: is nested unevenly; a number or a row is needed") from None
    if made.dtype.hasobject:
        made = with_dates(where, made)
        given = given if made.dtype.hasobject else made
    fits = zip(made.shape[::-1], row.shape[::-1], strict=False)
    if made.ndim > row.ndim or any(size not in (1, wide) for size, wide in fits):
        raise ShapeError(f"{where}: has shape {made.shape}; a number or a row of shape {row.shape[1:]} is needed")
    kind = made.dtype.kind
    kept = (kind != "O" or isinstance(given, int)) and (kind not in "cmM" or row.dtype.kind == kind)
    if kept:
        try:
            with np.errstate(all="ignore"):
                row[...] = given
            kept = _kept(made, row)
        except (ValueError, TypeError, OverflowError):
            kept = False
    if not kept:
        raise DTypeError(f"{where}: is {given!r}; {row.dtype} cannot hold it{room_for(made.dtype, row.dtype)}")


def _kept(given: Array, row: Array) -> bool:
    """Return whether a row holds a given value: integers and text exactly, and no infinity for a finite number."""
    kind = row.dtype.kind
    if kind in "biu":
        return bool((row == given).all())
    if kind in "mM" and given.dtype.kind == kind:
        return bool(is_held(given, row.dtype).all())
    if kind in "US":
        return not row.dtype.itemsize or bool((row == given.astype(kind)).all())
    if kind in "fc" and given.dtype.kind in "fc":
        return bool((np.isfinite(row) | ~np.isfinite(given)).all())
    if kind in "fc" and given.dtype.kind in "biuO":  # integers, which are finite
        return bool(np.isfinite(row).all())
    return True


def padded_length(where: str, name: str, longest: int, length: Any, multiple_of: Any = 1, least: Any = None) -> int:
    """Return the length to which sequences are padded; `name` is that of the argument that may give it."""
    known = longest if length is None else integer(f"{where}: {name}", length, bools=True)
    multiple = integer(f"{where}: multiple_of", multiple_of, bools=True)
    if known < longest:
        raise ValueError(f"{where}: {name}: is {known}; the longest sequence has {longest} rows")
    if least is not None:
        known = max(known, integer(f"{where}: min_length", least, bools=True))
    if multiple < 1:
        raise ValueError(f"{where}: multiple_of: is {multiple}; 1 or more is needed")
    return -(-known // multiple) * multiple


def padded_lengths(where: str, lod: LoD, first: int, length: Any, multiple_of: Any, least: Any) -> list[int]:
    """Return the length of the axis of each level from `first` on; a single number is for the last level."""
    depth = lod.num_levels - first
    asked = (("length", length, None), ("multiple_of", multiple_of, 1), ("min_length", least, None))
    given = [_each_level(where, name, one, usual, depth) for name, one, usual in asked]
    sizes = []
    for k, of_length, of_multiple, of_least in zip(range(first, lod.num_levels), *given, strict=True):
        longest = kernels.lod.max_length(lod_body.offsets_view(lod, k))
        sizes.append(padded_length(where, "length", longest, of_length, of_multiple, of_least))
    return sizes


def _each_level(where: str, name: str, given: Any, usual: Any, depth: int) -> list[Any]:
    """Return an argument that may have one entry per level, coarse ones first."""
    if not isinstance(given, (tuple, list)):
        return [usual] * (depth - 1) + [given]
    if len(given) != depth:
        raise ShapeError(
            f"{where}: {name}: has {len(given)} entries; one for each of {with_number(depth, 'level')} is needed"
        )
    return list(given)


def mask_of(where: str, offsets: Any, longest: int, left: bool, row_bytes: int) -> Array:
    """Return the mask of rows in each line, if lines of rows of this size fit in memory."""
    check_size(where, len(offsets) - 1, longest, row_bytes + 1)
    lengths = np.diff(np.asarray(offsets))[:, None]
    steps = np.arange(longest)
    return steps >= longest - lengths if left else steps < lengths


def padded(
    where: str, x: Any, offsets: Any, shape: tuple[int, ...], fill: Array, left: bool, repeat: bool, out: Array | None
) -> Array:
    """Write padded lines of rows to a dense array.

    Parameters
    ----------
    x : LoDTensor
    offsets : int64, shape (n_lines + 1,)
        As `lines_of` returns them.
    shape : tuple of int
        The axes before those of a row.
    fill : ndarray
        As `fill_row` returns it.
    left, repeat : bool
        Whether the padding comes first; whether it is the nearest row of the sequence, if there is one.
    out : ndarray, optional
    """
    values, count, longest = lod_tensor_body.private_values(x), len(offsets) - 1, shape[-1]
    lines, whole = out, (*shape, *values.shape[1:])
    if out is not None and len(shape) > 2:
        lines = check_out(where, out, whole, values.dtype, values).reshape(count, longest, *values.shape[1:])
    dense: Array = buffers.new_lines(where, values, count, longest, lines)
    as_lines = buffers.as_lines(dense)
    over_sequences(kernels.pad.pad_rows, "ro..s", lod_tensor_body.rows_as_bytes(x), offsets, fill, left, as_lines)
    if repeat:
        kernels.pad.repeat_ends(offsets, left, as_lines)
    if out is not None:
        return out
    return dense if len(shape) == 2 else dense.reshape(whole)


def unpadded(where: str, dense: Any, lengths: Any, mask: Any, side: Any = "right") -> tuple[Array, LoD]:
    """Return the rows of a padded array given by lengths or a mask, and their structure."""
    lines = as_values(f"{where}: dense", dense)
    if lines.ndim < 2:
        raise ShapeError(f"{where}: dense: has shape {lines.shape}; (n, padded_length, ...) is needed")
    if (lengths is None) == (mask is None):
        raise ValueError(f"{where}: lengths, mask: exactly one of the two is needed")
    left = is_left(where, side)
    if mask is None and getattr(lengths, "dtype", None) == np.bool_:
        lengths, mask = None, lengths
    if mask is not None:
        chosen = _as_bools(f"{where}: mask", mask)
        if chosen.ndim < 2 or chosen.shape != lines.shape[: chosen.ndim]:
            raise ShapeError(f"{where}: mask: has shape {chosen.shape}; dense has {lines.shape[: max(2, chosen.ndim)]}")
        return lines[chosen], _masked_lod(chosen, left)
    if getattr(lengths, "num_levels", 0):
        lod = lengths.lod.append(lengths=buffers.as_int64(lengths.values, f"{where}: lengths", LoDError))
    else:
        lod = LoD.from_lengths(buffers.as_int64(lengths, f"{where}: lengths", LoDError))
    _check_lines(where, lod, lines)
    depth = lod.num_levels
    offsets = lod_body.offsets_view(lod, 0)
    if depth > 1:
        offsets = lines_of(where, lod, 0, list(lines.shape[1:depth]), left)
        lines = lines.reshape(len(offsets) - 1, *lines.shape[depth:])
    rows = buffers.new_rows(where, lines, lod.num_rows, None, 2)
    kernels.pad.unpad_rows(buffers.as_lines(lines), offsets, left, buffers.as_bytes(rows))
    return rows, lod


def _as_bools(where: str, mask: Any) -> Array:
    """Return a private mask of bools, which may be given as integers that are 0 or 1."""
    given = np.array(as_array(where, mask))
    if given.dtype.kind not in "biu":
        raise DTypeError(f"{where}: has dtype {given.dtype}; bool, or integers that are 0 or 1, are needed")
    chosen = given.astype(np.bool_)
    if not np.array_equal(chosen, given):
        place = tuple(np.argwhere(chosen != given)[0].tolist())
        raise ValueError(f"{where}: is {given[place]} at position {place}; 0 or 1 is needed")
    return chosen


def is_left(where: str, side: Any) -> bool:
    """Return whether a side is the left one."""
    if side not in ("right", "left"):
        raise ValueError(f'{where}: side: is {side!r}; "right" or "left" is needed')
    return bool(side == "left")


def _check_lines(where: str, lod: LoD, lines: Array) -> None:
    """Raise if a dense array has no room for sequences of these lengths."""
    if lines.ndim <= lod.num_levels:
        raise ShapeError(
            f"{where}: dense: has shape {lines.shape}; lengths have {with_number(lod.num_levels, 'level')}"
        )
    if lod.num_sequences() != len(lines):
        raise LoDError(f"{where}: lengths: has {lod.num_sequences()} entries; dense has {len(lines)} lines")
    for k in range(lod.num_levels):
        if kernels.lod.max_length(lod_body.offsets_view(lod, k)) > lines.shape[k + 1]:
            j = int(np.argmax(lod.lengths(k) > lines.shape[k + 1]))
            what = "rows" if k + 1 == lod.num_levels else "lines"
            of_level = f" of level {k}" if lod.num_levels > 1 else ""
            raise LoDError(
                f"{where}: lengths: is {lod.lengths(k)[j]} at position {j}{of_level}; a line has "
                f"{lines.shape[k + 1]} {what}"
            )


def _masked_lod(chosen: Array, left: bool) -> LoD:
    """Return the structure of the rows that a mask selects; lines of lines end (or begin) with such a row."""
    lengths = chosen.sum(axis=-1, dtype=np.int64)
    levels: list[Array] = [lengths]
    there = lengths > 0
    while there.ndim > 1:
        places = np.arange(there.shape[-1])
        if there.shape[-1] == 0:
            counts = np.zeros(there.shape[:-1], np.int64)
        elif left:
            counts = np.where(there.any(axis=-1), there.shape[-1] - there.argmax(axis=-1), 0)
        else:
            counts = np.where(there, places + 1, 0).max(axis=-1)
        kept = places >= there.shape[-1] - counts[..., None] if left else places < counts[..., None]
        levels = [counts, levels[0][kept], *levels[1:]]  # lines that are not kept have no lines inside
        there = counts > 0
    return LoD.from_lengths(*levels)
