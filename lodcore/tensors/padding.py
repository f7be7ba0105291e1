"""Padded arrays: how long their lines are, what fills them up, and which of their rows are taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_size, integer
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import as_array, as_values

__all__ = ["NO_FILLING", "filling", "hold", "lines_of", "padded_length", "unpadded"]

Array = np.ndarray[Any, Any]

#: Zero bytes, of whatever size a row has.
NO_FILLING: Array = np.empty(0, np.uint8)
NO_FILLING.flags.writeable = False


def lines_of(where: str, lod: LoD, levels: Any, left: bool) -> tuple[Array, list[int]]:
    """Give the lines of a dense array with an axis for each of the last levels: offsets in rows, and its first axes.

    Lines of sequences that are not there are empty; with `left` they come first.
    """
    depth = integer(f"{where}: levels", levels, bools=True)
    if not 1 <= depth <= lod.num_levels:
        raise LevelError(f"{where}: levels: is {depth}; 1 .. {lod.num_levels} is valid")
    first = lod.num_levels - depth
    bounds: Array = lod.offsets(first)
    sizes = [len(bounds) - 1]
    for k in range(first + 1, lod.num_levels):
        lengths = np.diff(bounds)[:, None]
        longest = int(lengths.max(initial=0))
        check_size(where, len(lengths), longest, 8)
        places = np.arange(longest) - (longest - lengths if left else 0)
        begins = bounds[:-1, None] + np.clip(places, 0, lengths)
        bounds = lod.offsets(k)[np.append(begins, bounds[-1])]
        sizes.append(longest)
    return bounds, sizes


def filling(where: str, given: Any, values: Array) -> Array:
    """Make one row, as bytes, of what sequences are filled up with; no bytes at all stand for zeros."""
    if type(given) is int and given == 0 and values.dtype.kind not in "SU":
        return NO_FILLING
    fill: Array = buffers.new_rows(where, values, 1)
    hold(where, given, fill)
    row: Array = buffers.as_bytes(fill)[0]
    return row


def hold(where: str, given: Any, row: Array) -> None:
    """Write what a caller gives for a row into it; what its dtype would make something else of is refused."""
    try:
        made = np.asarray(given)
    except ValueError:
        raise ShapeError(f"{where}: is nested unevenly; a number or a row is needed") from None
    fits = zip(made.shape[::-1], row.shape[::-1], strict=False)
    if made.ndim > row.ndim or any(size not in (1, wide) for size, wide in fits):
        raise ShapeError(f"{where}: has shape {made.shape}; a number or a row of shape {row.shape[1:]} is needed")
    kind = made.dtype.kind
    kept = (kind != "O" or isinstance(given, int)) and (kind != "c" or row.dtype.kind == "c")
    if kept:
        try:
            with np.errstate(all="ignore"):
                row[...] = given
            kept = _kept(made, row)
        except (ValueError, TypeError, OverflowError):
            kept = False
    if not kept:
        raise DTypeError(f"{where}: is {given!r}; {row.dtype} cannot hold it")


def _kept(given: Array, row: Array) -> bool:
    """Tell whether a row holds what was given: whole numbers and text exactly, and no infinity for a number."""
    kind = row.dtype.kind
    if kind in "biu":
        return bool((row == given).all())
    if kind in "US":
        return not row.dtype.itemsize or bool((row == given.astype(kind)).all())
    if kind in "fc" and given.dtype.kind in "fc":
        return bool((np.isfinite(row) | ~np.isfinite(given)).all())
    return True


def padded_length(where: str, name: str, longest: int, length: Any, multiple_of: Any = 1) -> int:
    """Find the length to which sequences are filled up; `name` is that of the argument that may tell it."""
    padded = longest if length is None else integer(f"{where}: {name}", length, bools=True)
    multiple = integer(f"{where}: multiple_of", multiple_of, bools=True)
    if padded < longest:
        raise ValueError(f"{where}: {name}: is {padded}; the longest sequence has {longest} rows")
    if multiple < 1:
        raise ValueError(f"{where}: multiple_of: is {multiple}; 1 or more is needed")
    return -(-padded // multiple) * multiple


def unpadded(where: str, dense: Any, lengths: Any, mask: Any) -> tuple[Array, LoD]:
    """Take the rows of a padded array that lengths or a mask tell, and their structure."""
    padded = as_values(f"{where}: dense", dense)
    if padded.ndim < 2:
        raise ShapeError(f"{where}: dense: has shape {padded.shape}; (n, padded_length, ...) is needed")
    if (lengths is None) == (mask is None):
        raise ValueError(f"{where}: lengths, mask: exactly one of the two is needed")
    if mask is None and getattr(lengths, "dtype", None) == np.bool_:
        lengths, mask = None, lengths
    if mask is not None:
        chosen = as_array(f"{where}: mask", mask)
        if chosen.dtype != np.bool_:
            raise DTypeError(f"{where}: mask: has dtype {chosen.dtype}; bool is needed")
        if chosen.shape != padded.shape[:2]:
            raise ShapeError(f"{where}: mask: has shape {chosen.shape}; dense has {padded.shape[:2]}")
        chosen = chosen.copy()
        return padded[chosen], LoD.from_lengths(chosen.sum(axis=1, dtype=np.int64))
    lod = LoD.from_lengths(buffers.as_int64(lengths, f"{where}: lengths", LoDError))
    if lod.num_sequences() != len(padded):
        raise LoDError(f"{where}: lengths: has {lod.num_sequences()} entries; dense has {len(padded)} lines")
    if kernels.offsets.max_length(lod._view(0)) > padded.shape[1]:
        j = int(np.argmax(lod.lengths() > padded.shape[1]))
        raise LoDError(f"{where}: lengths: is {lod.lengths()[j]} at position {j}; a line has {padded.shape[1]} rows")
    rows = buffers.new_rows(where, padded, lod.num_rows, None, 2)
    kernels.pad.unpad_rows(buffers.as_lines(padded), lod._view(0), False, buffers.as_bytes(rows))
    return rows, lod
