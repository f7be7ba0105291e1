"""Axes put in, and sequences turned to what they have at each position."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LoDError
from lodcore.lod import LoD
from lodcore.ops.common import Array, array_of
from lodcore.ops.moving import add_back, spec_level, spec_rows
from lodcore.ops.pool import cells_for, cells_of, numbers_of, result_rows, settle
from lodcore.registry import Dense, Nested, Spec, op
from lodcore.tensor import LoDTensor, as_nested

__all__ = ["by_position", "drop_level", "insert_level", "pool_positions"]


@op(lod="own")
def insert_level(x: Dense, level: int, whole: bool = False) -> Any:
    """Put a level in between.

    Parameters
    ----------
    x : LoDTensor or array_like
    level : int
        0 .. num_levels: the number of the new level. What was counted there before, sequences or rows, become
        sequences of one.
    whole : bool
        Only with level 0: make one sequence of all of them.

    Returns
    -------
    LoDTensor
        Of one level more; shares the values.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.insert_level(lodcore.array([[1, 2], [3]]), 1).tolist()
    [[[1], [2]], [[3]]]
    >>> lodcore.ops.insert_level([1, 2, 3], 0, whole=True).tolist()
    [[1, 2, 3]]
    """
    values = array_of("insert_level", x)
    if values.ndim == 0:
        raise DTypeError("insert_level: x: is a number; rows are needed")
    lod = x.lod if isinstance(x, LoDTensor) else core.make_lod([], len(values))
    _check_level(level, lod.num_levels, whole)
    levels = [lod.offsets(k) for k in range(lod.num_levels)]
    count = len(levels[level]) - 1 if level < len(levels) else lod.num_rows
    levels.insert(level, np.array([0, count]) if whole else np.arange(count + 1))
    return tensor_core.new_tensor(np.ascontiguousarray(values), core.make_lod(levels, lod.num_rows))


def _check_level(level: Any, num_levels: int, whole: bool) -> None:
    if not hasattr(level, "__index__"):
        raise DTypeError(f"insert_level: level: is {level!r}; an integer is needed")
    if not 0 <= level <= (0 if whole else num_levels):
        raise LoDError(f"insert_level: level: is {level}; x has {num_levels} levels")


@insert_level.infer
def _(x: Spec, level: int, whole: bool) -> Spec:
    _check_level(level, x.num_levels, whole)
    return Spec(spec_rows(x), x.dtype, x.num_levels + 1, LoDTensor)


@insert_level.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    return (d,)


@op(lod="own")
def drop_level(x: Nested, level: int = 0) -> Any:
    """Remove a level, as `LoDTensor.flatten` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int

    Returns
    -------
    LoDTensor, or ndarray if no level is left
        Shares the values.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.drop_level([[[1, 2], [3]], [[4]]])
    LoDTensor(3 sequences of lengths 1..2, int64: [[1, 2], [3], [4]])
    """
    return as_nested("drop_level: x", x).flatten(level)


@drop_level.infer
def _(x: Spec, level: int) -> Spec:
    spec_level("drop_level", x.num_levels, level)
    levels = x.num_levels - 1
    return Spec(spec_rows(x), x.dtype, levels, LoDTensor if levels else np.ndarray)


@drop_level.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    return (d,)


@op(lod="own")
def by_position(x: Nested, axis: int = 0) -> Any:
    """Turn sequences to what they have at each position: what stands first in any of them, what stands second.

    Parameters
    ----------
    x : LoDTensor or nested lists
    axis : int
        0 .. num_levels - 1: that of the batch, or of the elements of level axis - 1.

    Returns
    -------
    LoDTensor
        Sequences of level `axis` are in its place the positions, and hold what the sequences longer than that have
        there, in their order. What is inside of it moves along.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.by_position([[1, 2, 3], [], [4, 5]])
    LoDTensor(3 sequences of lengths 1..2, int64: [[1, 4], [2, 5], [3]])
    """
    return _by_position(x, axis)[0]


@by_position.saving
def _by_position(x: Any, axis: int = 0) -> tuple[Any, Array]:
    where = "by_position"
    x = as_nested(f"{where}: x", x)
    lod = x.lod
    _check_axis(axis, lod.num_levels)
    outer, offsets, positions = _positions(lod, axis)
    elements = buffers.new_offsets(positions.item(len(positions) - 1) + 1)
    kernels.position.count_elements(outer, offsets, positions, elements)
    order = buffers.new_int64(elements.item(len(elements) - 1))
    kernels.position.order_by_position(outer, offsets, positions, np.array(elements[:-1]), order)
    upper = [*[lod.offsets(k) for k in range(axis - 1)], *([positions] if axis else []), elements]
    if axis == lod.num_levels - 1:  # rows, each of them once
        return tensor_core.new_tensor(x.values.take(order, axis=0), core.make_lod(upper, len(order))), order
    ranges = np.stack([order, order + 1], axis=1)
    return x._take(where, axis + 1, ranges, len(order), None, upper), ranges


def _positions(lod: LoD, axis: int) -> tuple[Any, Any, Any]:
    """Give the offsets of groups of sequences of level `axis`, of these sequences, of the positions of each group."""
    offsets = lod._view(axis)
    outer = lod._view(axis - 1) if axis else np.array([0, len(offsets) - 1])
    positions = buffers.new_offsets(len(outer))
    kernels.position.count_positions(outer, offsets, positions)
    return outer, offsets, positions


def _check_axis(axis: Any, num_levels: int) -> None:
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"by_position: axis: is {axis!r}; an integer is needed")
    if not 0 <= axis < num_levels:
        raise LoDError(f"by_position: axis: is {axis}; x has {num_levels} levels")


@by_position.infer
def _(x: Spec, axis: int) -> Spec:
    _check_axis(axis, x.num_levels)
    return Spec(spec_rows(x), x.dtype, x.num_levels, LoDTensor)


@by_position.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    d_x = saved.new("x")
    if saved.hidden.ndim == 2:
        return (add_back(d, saved.hidden, d_x),)
    d_x[saved.hidden] = d
    return (d_x,)


@op(lod="own")
def pool_positions(x: Nested, pool_type: str) -> Any:
    """Pool what the sequences of the last level have at each position to one row, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Of any number of levels: those before the last say which sequences belong together.
    pool_type : {"sum", "mean", "max", "min"}
        As of `sequence_pool`. Sums run over the sequences in their order.

    Returns
    -------
    LoDTensor, or ndarray if x has one level
        In place of the sequences of the last level one row for each position that one of them has.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.pool_positions([[1, 2, 3], [], [4, 5]], "sum")
    array([5, 7, 3])
    >>> lodcore.ops.pool_positions([[[1, 2], [3]], [[4]]], "max")
    LoDTensor(2 sequences of lengths 1..2, int64: [[3, 2], [4]])
    """
    return _pooled(x, pool_type, False)[0]


@pool_positions.saving
def _(x: Any, pool_type: str) -> tuple[Any, Any]:
    return _pooled(x, pool_type, True)


def _pooled(x: Any, pool_type: str, saving: bool) -> tuple[Any, Any]:
    """Pool positions; give also where the greatest or least cells are, or how many elements there are, if wanted."""
    where = "pool_positions"
    x = as_nested(f"{where}: x", x)
    work, dtype = _numbers(pool_type, x.dtype)
    lod, last = x.lod, _last_level(x.lod.num_levels)
    outer, offsets, positions = _positions(lod, last)
    result = result_rows(where, x.values, positions.item(len(positions) - 1), dtype, None)
    source, target = cells_of(x.values, work), cells_for(result, work)
    hidden = None
    if pool_type in ("max", "min"):
        hidden = np.empty(target.shape if saving else (0, 0), np.int64)
        kernels.position.best_positions(source, outer, offsets, positions, pool_type == "min", target, hidden)
    else:
        kernels.position.add_positions(source, outer, offsets, positions, target)
        if pool_type == "mean":
            elements = buffers.new_offsets(len(target) + 1)
            kernels.position.count_elements(outer, offsets, positions, elements)
            hidden = np.diff(elements)[:, None]
            np.divide(target, hidden.astype(work), out=target)
    settle(target, result)
    if not last:
        return result, hidden
    upper = [lod.offsets(k) for k in range(last - 1)]
    return tensor_core.new_tensor(result, core.make_lod([*upper, positions], len(result))), hidden


def _last_level(num_levels: int) -> int:
    if not num_levels:
        raise LoDError("pool_positions: x: has no levels; sequences are needed")
    return num_levels - 1


def _numbers(pool_type: Any, dtype: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    if pool_type not in ("sum", "mean", "max", "min"):
        raise ValueError(f'pool_positions: pool_type: is {pool_type!r}; "sum", "mean", "max" or "min" is needed')
    return numbers_of("pool_positions", pool_type, dtype)


@pool_positions.infer
def _(x: Spec, pool_type: str) -> Spec:
    levels = _last_level(x.num_levels)
    return Spec(spec_rows(x), _numbers(pool_type, x.dtype)[1], levels, LoDTensor if levels else np.ndarray)


@pool_positions.backward
def _(saved: Any, d: Array) -> tuple[Array]:
    lod, d_x = saved.x.lod, saved.new("x")
    work, _ = _numbers(saved.pool_type, d_x.dtype)
    given, rows = cells_of(d, work), cells_for(d_x, work)
    if saved.pool_type in ("max", "min"):
        rows[...] = 0
        rows.reshape(-1)[saved.hidden.reshape(-1)] = given.reshape(-1)
    else:
        if saved.pool_type == "mean":
            given = given / saved.hidden.astype(work)
        kernels.position.spread_positions(given, *_positions(lod, lod.num_levels - 1), rows)
    settle(rows, d_x)
    return (d_x,)
