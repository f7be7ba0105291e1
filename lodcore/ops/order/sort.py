"""Sorting the rows of sequences, and their greatest rows, column by column."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.threads import get_num_threads, in_parts, parts
from lodcore.operators.arguments import integer_of, level_of
from lodcore.operators.copies import spec_rows
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Nested
from lodcore.ops.order.order import check_order, ordered, placed
from lodcore.ops.reduce.pool import result_rows
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["sequence_sort", "sequence_topk"]

POSITION = np.dtype(np.int64)
COST = 8  # of sorting numbers, relative to copying them


@operator(x=Nested)
def sequence_sort(x: Any, level: int = -1, descending: bool = False, *, saved: Saved = None) -> LoDTensor:
    """Sort the rows of each sequence, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has dtype bool, integer, float16, float32 or float64, complex, text, bytes, datetime64 or timedelta64.
    level : int
        The level of the sequences whose rows are sorted.
    descending : bool
        Whether the greatest comes first.

    Returns
    -------
    LoDTensor
        Has the LoD of x.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If the dtype cannot be sorted, or is wider than float64.

    Notes
    -----
    As in NumPy, nan and NaT are the greatest: last, or first if descending. Equal numbers keep their order. Text is
    sorted by code points, complex numbers by real parts and then by imaginary parts.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_sort([[3, 1, 2], [], [5, 4]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    """
    where = "sequence_sort"
    values, lod = x.values, x.lod
    check_order(where, values.dtype)
    k = lod_body.normalize_level(lod, level, where)
    result, positions = ordered(where, values, lod_body.in_rows(lod, k), bool(descending), True, saved is not None)
    if saved is not None:
        saved["positions"] = positions
    return lod_tensor_body.owned_tensor(result, lod)


@sequence_sort.define_infer
def _(x: Spec, level: int, descending: bool) -> Spec:
    check_order("sequence_sort", x.dtype)
    level_of("sequence_sort", x, level)
    return Spec(x.shape, x.dtype)


@sequence_sort.define_vjp
def _(d: Array, x: LoDTensor, level: int, positions: Array | None, context: Any) -> Array:
    lod = x.lod
    offsets = lod_body.in_rows(lod, lod_body.normalize_level(lod, level))
    return placed("sequence_sort", d, offsets, offsets, positions, context.new("x"))


@operator(x=Nested, results=2, lod_rule="the levels of `x` up to `level`, whose sequences are shorter")
def sequence_topk(x: Any, k: int, level: int = -1) -> tuple[LoDTensor, LoDTensor]:
    """Return the k greatest rows of each sequence, column by column, and their positions.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has a dtype of `sequence_sort`.
    k : int
        0 or more; all rows of a shorter sequence are returned.
    level : int
        The level of the sequences, with all rows below each.

    Returns
    -------
    values, positions : LoDTensor
        Have one LoD: the levels up to `level`, whose sequences now have min(k, length) rows. The greatest comes first.
        Positions count rows within the sequence: int64.

    Raises
    ------
    LevelError
        If the level does not exist.
    DTypeError
        If the dtype cannot be sorted, or is wider than float64, or k is not an integer.
    ValueError
        If k is negative.

    Notes
    -----
    As in NumPy's order, nan and NaT are the greatest. Equal numbers keep their order.

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
    most = _count(k)
    values, lod = x.values, x.lod
    check_order(where, values.dtype)
    at = lod_body.normalize_level(lod, level, where)
    offsets = lod_body.in_rows(lod, at)
    count = len(offsets) - 1
    kept = buffers.new_offsets(count + 1)
    kernels.sort.keep_first(offsets, most, kept)
    if values.dtype.kind in "biuf":
        best, positions = _best(where, values, offsets, kept)
    else:
        found, places = ordered(where, values, offsets, True, True, True)
        chosen = np.arange(kept[-1]) + np.repeat(np.asarray(offsets[:-1]) - kept[:-1], np.diff(kept))
        best = found[chosen]
        positions = np.zeros(best.shape, POSITION) if places is None else places[chosen].reshape(best.shape)
    left = lod_body.make_lod([*map(lod.offsets, range(at)), kept] if at else [kept], kept.item(count))
    return lod_tensor_body.owned_tensor(best, left), lod_tensor_body.owned_tensor(positions, left)


def _best(where: str, values: Array, offsets: Any, kept: Array) -> tuple[Array, Array]:
    """Return the greatest numbers, and their positions."""
    n_kept = kept.item(len(kept) - 1)
    best = buffers.new_rows(where, values, n_kept)
    positions = buffers.new_int64(n_kept) if values.ndim == 1 else result_rows(where, values, n_kept, POSITION, None)
    _best_rows(buffers.as_cells(values), offsets, kept, buffers.as_cells(best), buffers.as_cells(positions))
    return best, positions


def _best_rows(x: Array, offsets: Any, kept: Array, best: Array, positions: Array) -> None:
    """Write the greatest rows, in several threads if allowed and worth it."""
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


@sequence_topk.define_infer
def _(x: Spec, k: int, level: int) -> tuple[Spec, Spec]:
    _count(k)
    check_order("sequence_topk", x.dtype)
    rows, count = spec_rows(x), level_of("sequence_topk", x, level) + 1
    return Spec(rows, x.dtype, count), Spec(rows, POSITION, count)


@sequence_topk.define_vjp
def _(d: Array, _: None, out: tuple[LoDTensor, LoDTensor], x: LoDTensor, level: int, context: Any) -> Array:
    lod, positions = x.lod, out[1]
    k = lod_body.normalize_level(lod, level)
    places = buffers.as_cells(positions.values)
    offsets, kept = lod_body.in_rows(lod, k), lod_body.offsets_view(positions.lod, k)
    return placed("sequence_topk", d, offsets, kept, places, context.new("x"))


# -- arguments ---------------------------------------------------------------------------------------------------------


def _count(k: Any) -> int:
    """Return a checked number of rows."""
    number = integer_of("sequence_topk: k", k, 0)
    return number if number < 2**63 else 2**63 - 1
