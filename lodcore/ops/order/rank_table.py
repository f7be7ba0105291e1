"""Operators that order sequences by length, longest first."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base import buffers
from lodcore.base.dtypes import is_native
from lodcore.base.memory import index_of
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.arguments import check_index, level_of, structure_of
from lodcore.operators.copies import add_back, as_rows_or_nested, row_by_row, row_ranges, spec_rows
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.operands import Array, rows_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Index, Rows, Structure, Table
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.rank_table import RankTable, table_of, table_of_level
from lodcore.tensors.tensor import Spec

__all__ = ["lod_rank_table", "reorder_by_rank", "shrink_memory"]


@operator(x=Structure, lod_rule=no_lod, differentiable=False)
def lod_rank_table(x: Any, level: int = 0) -> RankTable:
    """Return the order of the sequences of a level by length, longest first.

    Parameters
    ----------
    x : LoDTensor, LoD or nested lists
    level : int

    Returns
    -------
    RankTable
        Lengths count elements of the level; empty sequences come last.

    Raises
    ------
    LevelError
        If the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.lod_rank_table([[1], [2, 3, 4], [], [5]])
    RankTable(4 sequences, index: length {1: 3, 0: 1, 3: 1, 2: 0})
    """
    lod = x.lod if type(x) is LoDTensor else x if isinstance(x, LoD) else as_nested("lod_rank_table: x", x).lod
    return table_of_level(lod, lod_body.normalize_level(lod, level, "lod_rank_table"))


@lod_rank_table.define_infer
def _(x: Spec, level: int) -> Spec:
    level_of("lod_rank_table", structure_of("lod_rank_table: x", x), level)
    return Spec((None,), np.dtype(np.int64), 0, RankTable)


@operator(x=Rows, table=Table, lod_rule="as `x`; the first level is reordered")
def reorder_by_rank(x: Any, table: Any) -> Any:
    """Reorder the outermost sequences (or the rows of an ndarray) by a rank table.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Must have as many outermost sequences (rows) as the table.
    table : RankTable or IndicesMap
        A rank table, or the map that `unpack` returned with its steps.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    LoDError
        If the table has another number of sequences.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1], [2, 3, 4], []])
    >>> lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x))
    LoDTensor(3 sequences of lengths 0..3, int64: [[2, 3, 4], [1], []])
    """
    where = "reorder_by_rank"
    x, table = _as_rows(where, x), table_of(f"{where}: table", table)
    if len(x) != len(table):
        raise LoDError(f"{where}: table: has {len(table)} sequences; x has {len(x)}")
    if isinstance(x, LoDTensor):
        return lod_tensor_body.gather(x, where, 0, table.indices)
    single = LoDTensor(x, LoD.from_lengths(np.ones(len(x), np.int64)))
    return lod_tensor_body.gather(single, where, 0, table.indices).values


@reorder_by_rank.define_infer
def _(x: Spec, table: Any) -> Spec:
    return x._replace(shape=spec_rows(x))


@reorder_by_rank.define_vjp
def _(d: Array, x: Any, table: Any, context: Any) -> tuple[Array, None]:
    index = table_of("reorder_by_rank: table", table).indices
    nested = isinstance(x, LoDTensor) and x.lod.num_levels
    ranges = row_ranges(x.lod, 0, index) if nested else row_by_row(index % max(len(x), 1))
    return add_back(d, ranges, context.new("x")), None


@operator(x=Rows, step=Index, table=Table, lod_rule="the first sequences of `x`")
def shrink_memory(x: Any, step: Any, table: RankTable, check_order: bool = True) -> Any:
    """Return the entries of the sequences that are longer than `step`.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Must be in the order of the table: one outermost sequence (row) per entry, or only those that remained at an
        earlier step, which their number determines. The order of a dense x cannot be checked; `reorder_by_rank`, or
        `boot` of the steps, establishes it.
    step : int, or array of one
        0 or more; past the end of the longest sequence the result is empty.
    table : RankTable or IndicesMap
    check_order : bool
        Whether a LoDTensor with the lengths of the table in another order is an error. Sequences that change from step
        to step may have any lengths.

    Returns
    -------
    LoDTensor or ndarray
        A view of the first sequences (rows) if the table begins with the longest sequence.

    Raises
    ------
    IndexError
        If step is negative.
    LoDError
        If x has fewer sequences (rows) than remain, or more than the table; if the table does not begin with the
        longest sequence and x has a number that remains at no step; or if x is a LoDTensor with the lengths of the
        table in another order.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> table = lodcore.lod_rank_table([[1], [2, 3, 4], [], [5]])
    >>> lodcore.shrink_memory(np.arange(4), 0, table)
    array([0, 1, 2])
    """
    where = "shrink_memory"
    x = _as_rows(where, x)
    if type(table) is not RankTable:
        table = table_of(f"{where}: table", table)
    longer = _longer(where, len(x), step, table)
    if check_order and type(x) is not np.ndarray and isinstance(x, LoDTensor):
        _check_order(where, x, table)
    if table.falls:
        return x[:longer]
    return x[_kept(where, len(x), index_of(f"{where}: step", step), table)]


def _longer(where: str, count: int, step: Any, table: RankTable) -> int:
    """Count the sequences that are longer than a step; x must have at least as many."""
    t = int(step) if type(step) is np.int64 else index_of(f"{where}: step", step)
    if t < 0:
        raise IndexError(f"{where}: step: is {t}; steps count from 0")
    longer = table.count_longer(t if t < 2**63 else 2**63 - 1)
    if not longer <= count <= len(table):
        raise LoDError(f"{where}: x: has {count} sequences; {longer} are longer than step {t}, of {len(table)} in all")
    return longer


def _kept(where: str, count: int, step: int, table: RankTable) -> Array:
    """Return the positions of the remaining elements if the table does not begin with the longest sequence."""
    lengths = table.lengths
    falling = np.sort(lengths)[::-1]
    if count and count < len(falling) and falling[count - 1] == falling[count]:
        raise LoDError(f"{where}: x: has {count} sequences; no step leaves so many of {len(falling)}")
    there = lengths >= falling[count - 1] if count else np.zeros(len(lengths), bool)
    return np.flatnonzero(lengths[there] > step)


def _check_order(where: str, x: LoDTensor, table: RankTable) -> None:
    """Raise if x has the sequences of the table in another order."""
    if x.lod.num_levels != table.lod.num_levels - table.level:
        return
    found, wanted = x.lengths, table.lengths[: len(x)]
    if not np.array_equal(found, wanted) and np.array_equal(np.sort(found), np.sort(wanted)):
        j = int(np.argmax(found != wanted))
        raise LoDError(
            f"{where}: x: sequence {j} has length {found[j]}, the table {wanted[j]} there; "
            "reorder_by_rank brings x into its order"
        )


@shrink_memory.define_infer
def _(x: Spec, step: Any, table: Any, check_order: bool) -> Spec:
    check_index("shrink_memory: step", step)
    return Spec(spec_rows(x), *x[1:])


@shrink_memory.define_vjp
def _(d: Array, x: Any, step: Any, table: Any) -> tuple[Array, None, None]:
    count = len(rows_of(x))
    if len(d) == count:
        return d, None, None
    rank = table_of("shrink_memory: table", table)
    if rank.falls:
        return buffers.extended(d, count), None, None
    kept = _kept("shrink_memory", len(x), index_of("shrink_memory: step", step), rank)
    d_x = np.zeros((count, *d.shape[1:]), d.dtype)
    rows = kept if not isinstance(x, LoDTensor) else np.flatnonzero(np.isin(x.lod.segment_ids(0), kept))
    d_x[rows] = d
    return d_x, None, None


def _as_rows(where: str, x: Any) -> Any:
    """Return rows or sequences, converted from lists."""
    if type(x) is not np.ndarray or not is_native(x.dtype) or x.dtype.hasobject:
        return as_rows_or_nested(f"{where}: x", x)
    if x.ndim == 0:
        raise ShapeError(f"{where}: x: has no axis; its first axis counts the rows")
    return x
