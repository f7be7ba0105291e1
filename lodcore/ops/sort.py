"""Rows of sequences in the order of their numbers; each column of a row on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError
from lodcore.lod import LoD
from lodcore.ops.common import Array, below
from lodcore.ops.moving import level_of, spec_level, spec_rows
from lodcore.ops.pool import result_rows
from lodcore.registry import Nested, Spec, op
from lodcore.tensor import LoDTensor, as_nested
from lodcore.threads import get_num_threads, in_parts, over_sequences, parts

__all__ = ["sequence_sort", "sequence_topk"]

POSITION = np.dtype(np.int64)
COST = 8  # of bringing numbers into order, beside copying them


@op(lod="share")
def sequence_sort(x: Nested, level: int = -1, descending: bool = False) -> LoDTensor:
    """Sort the rows of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Of bool, integers, float16, float32 or float64.
    level : int
        All rows below a sequence of this level are sorted together.
    descending : bool
        The greatest first.

    Returns
    -------
    LoDTensor
        With the LoD of x.

    Raises
    ------
    LevelError
        If there is no such level.
    DTypeError
        If the dtype has no order, or is wider than float64.

    Notes
    -----
    As in NumPy nan is the greatest: the last one, or the first of a descending order. Equal numbers keep their order.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_sort([[3, 1, 2], [], [5, 4]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    """
    return _sorted(x, level, descending, False)[0]


@sequence_sort.saving
def _(x: Any, level: int = -1, descending: bool = False) -> tuple[LoDTensor, Array | None]:
    return _sorted(x, level, descending, True)


def _sorted(x: Any, level: int, descending: bool, saving: bool) -> tuple[LoDTensor, Array | None]:
    """Sort, and give the positions where the numbers were if they are to be saved."""
    where = "sequence_sort"
    values, lod, k = _rows_of(where, x, level)
    offsets = below(lod, k)
    result = buffers.new_rows(where, values, len(values))
    cells = buffers.as_cells(result)
    positions = buffers.new_int64(*cells.shape) if saving and cells.size else None
    roles = "roo.r." if positions is None else "roo.rr"
    source = buffers.as_cells(values)
    over_sequences(
        kernels.sort.sort_rows, roles, source, offsets, offsets, bool(descending), cells, positions, cost=COST
    )
    return tensor_core.new_tensor(result, lod), positions


@sequence_sort.infer
def _(x: Spec, level: int, descending: bool) -> Spec:
    spec_level("sequence_sort", x.num_levels, level)
    _check_order("sequence_sort", x.dtype)
    return x


@sequence_sort.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    lod = saved.out.lod
    offsets = below(lod, lod._level(saved.level))
    return (_placed("sequence_sort", d, offsets, offsets, saved.hidden, saved.new("x")),)


@op(lod="own", results=2)
def sequence_topk(x: Nested, k: int, level: int = -1) -> tuple[LoDTensor, LoDTensor]:
    """Take the k greatest rows of each sequence, column by column, and tell where they were.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Of bool, integers, float16, float32 or float64.
    k : int
        0 or more; a shorter sequence gives all that it has.
    level : int
        Of all rows below a sequence of this level.

    Returns
    -------
    values, positions : LoDTensor
        Of one LoD: the levels up to `level`, whose sequences now have min(k, length) rows. The greatest comes first.
        Positions count rows within the sequence: int64.

    Raises
    ------
    LevelError
        If there is no such level.
    DTypeError
        If the dtype has no order or is wider than float64, or k is no integer.
    ValueError
        If k is negative.

    Notes
    -----
    As in the order of NumPy nan is the greatest. Of equal numbers the first comes first.

    Examples
    --------
    >>> import lodcore
    >>> values, positions = lodcore.sequence_topk([[3, 1, 2], [], [5]], 2)
    >>> values
    LoDTensor(3 sequences of lengths 0..2, int64: [[3, 2], [], [5]])
    >>> positions
    LoDTensor(3 sequences of lengths 0..2, int64: [[0, 2], [], [0]])
    """
    where = "sequence_topk"
    values, lod, at = _rows_of(where, x, level)
    offsets = below(lod, at)
    count = len(offsets) - 1
    kept = buffers.new_offsets(count + 1)
    kernels.sort.keep_first(offsets, _count(where, k), kept)
    n_kept = kept.item(count)
    best = buffers.new_rows(where, values, n_kept)
    positions = buffers.new_int64(n_kept) if values.ndim == 1 else result_rows(where, values, n_kept, POSITION, None)
    _best_rows(buffers.as_cells(values), offsets, kept, buffers.as_cells(best), buffers.as_cells(positions))
    left = core.make_lod([*map(lod.offsets, range(at)), kept] if at else [kept], n_kept)
    return tensor_core.new_tensor(best, left), tensor_core.new_tensor(positions, left)


def _best_rows(x: Array, offsets: Any, kept: Array, best: Array, positions: Array) -> None:
    """Write the greatest rows, in several threads if that is wanted and worth it."""
    if get_num_threads() == 1:
        kernels.sort.sort_rows(x, offsets, kept, True, best, positions)
        return
    cuts = np.asarray(offsets)

    def run(start: int, stop: int) -> None:
        low, high = cuts[start], cuts[stop]
        first, last = kept[start], kept[stop]
        bounds, left = cuts[start : stop + 1] - low, kept[start : stop + 1] - first
        kernels.sort.sort_rows(x[low:high], bounds, left, True, best[first:last], positions[first:last])

    in_parts(run, parts(cuts, COST * x.nbytes))


@sequence_topk.infer
def _(x: Spec, k: int, level: int) -> tuple[Spec, Spec]:
    at = spec_level("sequence_topk", x.num_levels, level)
    _check_order("sequence_topk", x.dtype)
    _count("sequence_topk", k)
    best = Spec(spec_rows(x), x.dtype, at + 1, LoDTensor)
    return best, best._replace(dtype=POSITION)


@sequence_topk.backward
def _(saved: Any, d: Array, _: None) -> tuple[Array]:
    lod, positions = saved.x.lod, saved.out[1]
    k = lod._level(saved.level)
    places = buffers.as_cells(positions.values)
    return (_placed("sequence_topk", d, below(lod, k), positions.lod._view(k), places, saved.new("x")),)


# -- what they share -----------------------------------------------------------------------------------------------


def _rows_of(where: str, x: Any, level: int) -> tuple[Array, LoD, int]:
    """Take rows that have an order, their structure, and a level of it, counted from the first."""
    if type(x) is not LoDTensor:
        x = as_nested(f"{where}: x", x)
    values = x.values
    _check_order(where, values.dtype)
    return values, x.lod, level_of(where, x.lod, level)


def _check_order(where: str, dtype: np.dtype[Any]) -> None:
    """Raise if a dtype has no order that kernels know."""
    if dtype.char not in "dfliqbhBHILQ?e":
        raise DTypeError(f"{where}: x: has dtype {dtype}; bool, integers or floats of at most float64 are needed")


def _count(where: str, k: Any) -> int:
    """Take a number of rows."""
    if type(k) is int and 0 <= k < 2**63:
        return k
    if isinstance(k, (bool, np.bool_)) or not hasattr(k, "__index__"):
        raise DTypeError(f"{where}: k: is {k!r}; an integer is needed")
    try:
        count: int = k.__index__()
    except TypeError:
        raise DTypeError(f"{where}: k: is {k!r}; an integer is needed") from None
    if count < 0:
        raise ValueError(f"{where}: k: is {count}; 0 or more is needed")
    return min(count, 2**63 - 1)


def _placed(where: str, d: Array, offsets: Any, kept: Any, positions: Array | None, d_x: Array) -> Array:
    """Put a cotangent back to the rows that were taken."""
    if positions is None:  # there are no numbers
        return d_x
    bad = kernels.sort.place_cells(buffers.as_cells(d), offsets, kept, positions, buffers.as_cells(d_x))
    if bad >= 0:
        raise IndexError(f"{where}: positions: row {bad} was changed; it names no row of its sequence")
    return d_x
