"""Structures taken apart and put together: what tensors and operators share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lodcore import core, kernels
from lodcore.errors import DTypeError, LoDError

__all__ = ["concat_lods", "index_ranges", "take_levels"]

Int64 = npt.NDArray[np.int64]


def index_ranges(where: str, index: npt.ArrayLike, count: int) -> Int64:
    """Turn indices of `count` sequences into ranges of one sequence each, checked.

    Parameters
    ----------
    where : str
        The function, for the message.
    index : array_like of integers, shape (n,)
    count : int

    Returns
    -------
    ndarray
        int64, shape (n, 2).
    """
    places = core.as_int64(index, f"{where}: index", IndexError)
    ranges: Int64 = core.new_int64(len(places), 2)
    bad = kernels.gather.index_ranges(places, count, ranges)
    if bad >= 0:
        raise IndexError(f"{where}: index: is {places[bad]} at position {bad}; there are {count} sequences")
    return ranges


def take_levels(where: str, lod: core.LoDBody, first: int, ranges: Int64, size: int) -> tuple[list[Int64], int]:
    """Take ranges of the sequences of level `first`, with all levels below.

    Parameters
    ----------
    where : str
        The function, for the message.
    lod : LoD
    first : int
        lod.num_levels: the ranges are of rows, and there is nothing to take.
    ranges : ndarray
        int64, shape (n, 2); rewritten to the ranges of rows.
    size : int
        The sum of the sizes of the ranges.

    Returns
    -------
    (list of ndarray, int)
        The offsets of level `first` and below, and the number of rows.
    """
    levels = []
    for k in range(first, lod.num_levels):
        offsets = core.new_offsets(size + 1)
        bad = kernels.gather.take_offsets(lod._view(k), ranges, offsets)
        if bad >= 0:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows with entry {bad}")
        levels.append(offsets)
        size = offsets.item(size)
    return levels, size


def concat_lods(where: str, lods: list[core.LoDBody]) -> core.LoDBody:
    """Put the structures of batches behind each other.

    Parameters
    ----------
    where : str
        The function, for the message.
    lods : list of LoD
        At least one.

    Returns
    -------
    LoD
    """
    num_levels = lods[0].num_levels
    for j, lod in enumerate(lods):
        if not isinstance(lod, core.LoDBody):
            raise DTypeError(f"{where}: batch {j}: is {type(lod).__name__}; a LoD is needed")
        if lod.num_levels != num_levels:
            raise LoDError(f"{where}: batch {j}: has {lod.num_levels} levels; the first one has {num_levels}")
    rows = sum([lod.num_rows for lod in lods])
    if rows >= 2**63:
        raise MemoryError(f"{where}: the result has {rows} rows; 2**63 - 1 is the most")
    levels = []
    for k in range(num_levels):
        views = [lod._view(k) for lod in lods]
        joined = core.new_offsets(sum([len(view) - 1 for view in views]) + 1)
        kernels.levels.join(views, joined)
        levels.append(joined)
    made: core.LoDBody = core.make_lod(levels, rows)
    return made
