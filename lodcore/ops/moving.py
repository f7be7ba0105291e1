"""What the operators share that move sequences whole: levels, structures put together, gradients of copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore import buffers, kernels
from lodcore.errors import DTypeError, LevelError, LoDError
from lodcore.lod import LoD
from lodcore.nested import as_values
from lodcore.ops.common import Array, check_equal
from lodcore.registry import Spec
from lodcore.structure import concat_lods
from lodcore.tensor import LoDTensor, as_nested

__all__ = [
    "add_back",
    "as_rows_or_nested",
    "below",
    "check_coarser",
    "check_total",
    "copy_back",
    "level_of",
    "lod_of",
    "reals",
    "row_by_row",
    "row_ranges",
    "spec_level",
    "spec_rows",
    "sum_copies",
]


# -- operands ----------------------------------------------------------------------------------------------------------


def lod_of(where: str, y: Any) -> LoD:
    """Take a LoD, or that of a LoDTensor or of nested lists."""
    if isinstance(y, LoDTensor):
        return y.lod
    return y if isinstance(y, LoD) else as_nested(where, y).lod


def as_rows_or_nested(where: str, x: Any) -> Any:
    """Take a LoDTensor, or rows: an ndarray or a flat list; a list of lists is nested."""
    if isinstance(x, LoDTensor):
        return x if x.lod.num_levels else x.values
    if isinstance(x, (list, tuple)) and len(x) and isinstance(x[0], (list, tuple)):
        return as_nested(where, x)
    if x is None or isinstance(x, (str, bytes, dict, set, LoD)):
        raise DTypeError(f"{where}: is {type(x).__name__}; a LoDTensor, an ndarray or lists are needed")
    return as_values(where, x)


def level_of(where: str, lod: LoD, level: Any, name: str = "level") -> int:
    """Turn a level, which may count from the last, into 0 .. num_levels - 1."""
    try:
        return lod._level(level)
    except (LevelError, DTypeError) as error:
        raise type(error)(f"{where}: {str(error).replace('level', name, 1)}") from None


def spec_level(where: str, num_levels: int, level: int) -> int:
    """Turn a level, which may count from the last, into 0 .. num_levels - 1, of a structure that is not there yet."""
    if not -num_levels <= level < num_levels:
        raise LevelError(f"{where}: level: is {level}; x has {num_levels} levels")
    return level % num_levels


def spec_rows(x: Spec) -> tuple[int | None, ...]:
    """Give the shape of as many rows as will be: None, and the shape of a row."""
    return (None, *x.shape[1:])


# -- structures --------------------------------------------------------------------------------------------------------


def check_coarser(where: str, lods: Sequence[LoD], names: Sequence[str], k: int) -> None:
    """Raise if structures have different depths, numbers of sequences at level k, or levels before it."""
    first = lods[0]
    for lod, name in zip(lods[1:], names[1:], strict=True):
        if lod.num_levels != first.num_levels:
            raise LoDError(f"{where}: {name}: has {lod.num_levels} levels; {names[0]} has {first.num_levels}")
        count, wanted = lod.num_sequences(k), first.num_sequences(k)
        if count != wanted:
            raise LoDError(f"{where}: {name}: has {count} sequences at level {k}; {names[0]} has {wanted}")
        if k:
            check_equal(where, first._part(0, k), lod._part(0, k), name)


def check_total(where: str, lods: Sequence[LoD]) -> int:
    """Add up the rows of several structures."""
    total = sum(lod.num_rows for lod in lods)
    if total >= 2**63:
        raise MemoryError(f"{where}: the result has {total} rows; 2**63 - 1 is the most")
    return total


def below(where: str, lods: Sequence[LoD], k: int, ranges: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Put the levels below level k of several structures together.

    Parameters
    ----------
    where : str
    lods : list of LoD
        Of more than k + 1 levels.
    k : int
    ranges : list of ndarray
        Where the sequences of level k of each come to stand, in elements: int64, shape (n, 2).

    Returns
    -------
    (list of ndarray, list of ndarray)
        The offsets of the levels below, and where the sequences come to stand in rows.
    """
    parts = [lod._part(k + 1, lod.num_levels) for lod in lods]
    counts = [part.num_sequences(0) for part in parts]
    starts = [sum(counts[:j]) for j in range(len(counts))]
    numbers = [np.arange(start, start + count) for start, count in zip(starts, counts, strict=True)]
    index = buffers.new_int64(sum(counts))
    kernels.expand.join_ranges(numbers, ranges, buffers.as_bytes(index))
    joined = concat_lods(where, parts).take(index)
    to_rows = joined.row_offsets(0)
    return [joined.offsets(j) for j in range(joined.num_levels)], [to_rows[pairs] for pairs in ranges]


# -- gradients ---------------------------------------------------------------------------------------------------------


def reals(rows: Array) -> Array:
    """Give rows of real or complex numbers as real ones: shape (n_rows, width), in place."""
    width = int(np.prod(rows.shape[1:])) * (2 if rows.dtype.kind == "c" else 1)
    flat: Array = rows.reshape(-1).view(rows.real.dtype)
    return flat.reshape(len(rows), width)


def row_ranges(lod: LoD, k: int, index: Array) -> Array:
    """Give where the rows of sequences of level k lie, taken by their numbers: int64, shape (n, 2)."""
    ranges: Array = buffers.new_int64(len(index), 2)
    kernels.gather.take_sequences(lod.row_offsets(k), index, ranges, buffers.new_int64(len(index) + 1))
    return ranges


def row_by_row(places: Array) -> Array:
    """Give where rows lie, taken by their numbers: int64, shape (n, 2)."""
    ranges: Array = np.stack([places, places + 1], axis=1)
    return ranges


def add_back(d: Array, ranges: Array, place: Array) -> Array:
    """Add the cotangent of copied ranges of rows to where they were copied from: the gradient, written to `place`."""
    if d.dtype.char in "fdFD":
        kernels.gather.add_ranges(reals(d), ranges, reals(place))
    else:  # half, long double
        sums = np.empty(place.shape, np.float32 if d.dtype.itemsize == 2 else np.float64)
        kernels.gather.add_ranges(reals(d.astype(sums.dtype)), ranges, reals(sums))
        place[...] = sums
    return place


def copy_back(d: Array, ranges: Array, place: Array) -> Array:
    """Copy ranges of rows of a cotangent to `place`, one behind the other."""
    kernels.gather.copy_ranges(buffers.as_bytes(d), ranges, buffers.as_bytes(place))
    return place


def sum_copies(d: Array, offsets: Array, place: Array) -> Array:
    """Add up the rows of each sequence, to which a row was copied: the gradient of that row, written to `place`."""
    ids = buffers.new_int64(len(d))
    kernels.offsets.segment_ids(offsets, ids)
    return add_back(d, row_by_row(ids), place)
