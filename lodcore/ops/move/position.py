"""Inserting and removing levels, and transposing sequences to positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.errors import DTypeError, LevelError, LoDError
from lodcore.operators.arguments import dense_of, integer_of, level_of
from lodcore.operators.copies import add_back, spec_rows
from lodcore.operators.lod_rules import levels_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, Nested
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into, numbers_of, result_rows
from lodcore.tensors import core, tensor_core
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["by_position", "drop_level", "insert_level", "pool_positions"]


@operator(x=Dense, lod_rule="that of `x`, and one more level at `level`")
def insert_level(x: Any, level: int, whole: bool = False) -> Any:
    """Insert a level.

    Parameters
    ----------
    x : LoDTensor or array_like
    level : int
        0 .. num_levels: the number of the new level. Each of the sequences or rows that were there becomes a sequence
        of one element.
    whole : bool
        Whether to make one sequence of all of them, for level 0 only.

    Returns
    -------
    LoDTensor
        Has one more level; it shares the values.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.insert_level(lodcore.array([[1, 2], [3]]), 1).tolist()
    [[[1], [2]], [[3]]]
    >>> lodcore.ops.insert_level([1, 2, 3], 0, whole=True).tolist()
    [[1, 2, 3]]
    """
    values = dense_of("insert_level: x", x, levels=True)
    level = _inserted(values.ndim, levels_of(x), level, whole)
    lod = x.lod if isinstance(x, LoDTensor) else core.make_lod([], len(values))
    levels = [lod.offsets(k) for k in range(lod.num_levels)]
    count = len(levels[level]) - 1 if level < len(levels) else lod.num_rows
    levels.insert(level, np.array([0, count]) if whole else np.arange(count + 1))
    return tensor_core.new_tensor(np.ascontiguousarray(values), core.make_lod(levels, lod.num_rows))


def _inserted(ndim: int, num_levels: int, level: Any, whole: bool) -> int:
    """Check that there are rows; return the checked level to insert."""
    if ndim == 0:
        raise DTypeError("insert_level: x: is a number; rows are needed")
    number = integer_of("insert_level: level", level)
    if not 0 <= number <= (0 if whole else num_levels):
        raise LevelError(f"insert_level: level: is {number}; x has {num_levels} level{'s' * (num_levels != 1)}")
    return number


@insert_level.define_infer
def _(x: Spec, level: int, whole: bool) -> Spec:
    _inserted(len(x.shape), x.num_levels, level, whole)
    return Spec(spec_rows(x), x.dtype, x.num_levels + 1)


@insert_level.define_vjp
def _(d: Array) -> Array:
    return d


@operator(x=Nested, lod_rule="that of `x` without `level`")
def drop_level(x: Any, level: int = 0) -> Any:
    """Remove a level, as `LoDTensor.flatten` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int

    Returns
    -------
    LoDTensor, or ndarray if no level is left
        It shares the values.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.drop_level([[[1, 2], [3]], [[4]]])
    LoDTensor(3 sequences of lengths 1..2, int64: [[1, 2], [3], [4]])
    """
    lod = x.lod.drop(core.normalize_level(x.lod, level, "drop_level"))
    return tensor_core.new_tensor(x.values, lod) if lod.num_levels else x.values


@drop_level.define_infer
def _(x: Spec, level: int) -> Spec:
    level_of("drop_level", x, level)
    return Spec(spec_rows(x), x.dtype, x.num_levels - 1)


@drop_level.define_vjp
def _(d: Array) -> Array:
    return d


@operator(x=Nested, lod_rule="as many levels as `x`, of which that of `axis` counts positions")
def by_position(x: Any, axis: int = 0, *, saved: Saved = None) -> Any:
    """Group the elements of sequences by position: the first elements of all of them, then the second ones, and so on.

    Parameters
    ----------
    x : LoDTensor or nested lists
    axis : int
        0 .. num_levels - 1: the axis of the batch, or of the elements of level axis - 1.

    Returns
    -------
    LoDTensor
        The sequences of level `axis` are replaced by positions; each holds the elements that sufficiently long
        sequences have there, in the order of the sequences. Elements are moved with their contents.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.by_position([[1, 2, 3], [], [4, 5]])
    LoDTensor(3 sequences of lengths 1..2, int64: [[1, 4], [2, 5], [3]])
    """
    lod = x.lod
    axis = _axis(axis, lod.num_levels)
    outer, offsets, positions = _positions(lod, axis)
    elements = buffers.new_offsets(positions.item(len(positions) - 1) + 1)
    kernels.position.count_elements(outer, offsets, positions, elements)
    order = buffers.new_int64(elements.item(len(elements) - 1))
    kernels.position.order_by_position(outer, offsets, positions, np.array(elements[:-1]), order)
    upper = [*[lod.offsets(k) for k in range(axis - 1)], *([positions] if axis else []), elements]
    if axis == lod.num_levels - 1:  # each row is moved once
        if saved is not None:
            saved["places"] = order
        return tensor_core.new_tensor(x.values.take(order, axis=0), core.make_lod(upper, len(order)))
    ranges = np.stack([order, order + 1], axis=1)
    if saved is not None:
        saved["places"] = ranges
    return tensor_core.take_ranges(x, "by_position", axis + 1, ranges, len(order), None, upper)


def _positions(lod: LoD, axis: int) -> tuple[Any, Any, Any]:
    """Return three offsets: of groups of sequences of level `axis`, of these sequences, of each group's positions."""
    offsets = core.offsets_view(lod, axis)
    outer = core.offsets_view(lod, axis - 1) if axis else np.array([0, len(offsets) - 1])
    positions = buffers.new_offsets(len(outer))
    kernels.position.count_positions(outer, offsets, positions)
    return outer, offsets, positions


def _axis(axis: Any, num_levels: int) -> int:
    """Return a checked axis of sequences."""
    number = integer_of("by_position: axis", axis)
    if not 0 <= number < num_levels:
        raise LevelError(f"by_position: axis: is {number}; x has {num_levels} level{'s' * (num_levels != 1)}")
    return number


@by_position.define_infer
def _(x: Spec, axis: int) -> Spec:
    _axis(axis, x.num_levels)
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@by_position.define_vjp
def _(d: Array, places: Array, context: Any) -> Array:
    d_x: Array = context.new("x")
    if places.ndim == 2:
        return add_back(d, places, d_x)
    d_x[places] = d
    return d_x


def _last_level(x: Any) -> int:
    """Count the levels without the last one, which is pooled."""
    if not x.num_levels:
        raise LoDError("pool_positions: x: has no levels; sequences are needed")
    return levels_of(x) - 1


@operator(x=Nested, lod_rule="as many levels as `x` but one, of which the last counts positions")
def pool_positions(x: Any, pool_type: str, *, saved: Saved = None) -> Any:
    """Pool the elements at the same position of the sequences of the last level to one row, column by column.

    Parameters
    ----------
    x : LoDTensor or nested lists
        Has any number of levels; the sequences that one sequence of the level before the last contains are pooled
        together.
    pool_type : {"sum", "mean", "max", "min"}
        As in `sequence_pool`. Sums are computed in the order of the sequences.

    Returns
    -------
    LoDTensor, or ndarray if x has one level
        The sequences of the last level are replaced by one row per position.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.pool_positions([[1, 2, 3], [], [4, 5]], "sum")
    array([5, 7, 3])
    >>> lodcore.ops.pool_positions([[[1, 2], [3]], [[4]]], "max")
    LoDTensor(2 sequences of lengths 1..2, int64: [[3, 2], [4]])
    """
    lod, last = x.lod, _last_level(x)
    work, dtype = _dtypes(pool_type, x.dtype)
    outer, offsets, positions = _positions(lod, last)
    result = result_rows("pool_positions", x.values, positions.item(len(positions) - 1), dtype, None)
    source, target = cells_of(x.values, work), cells_for(result, work)
    places = None  # of extremes, or the numbers of elements
    if pool_type in ("max", "min"):
        places = np.empty((0, 0) if saved is None else target.shape, np.int64)
        kernels.position.best_positions(source, outer, offsets, positions, pool_type == "min", target, places)
    else:
        kernels.position.add_positions(source, outer, offsets, positions, target)
        if pool_type == "mean":
            elements = buffers.new_offsets(len(target) + 1)
            kernels.position.count_elements(outer, offsets, positions, elements)
            places = np.diff(elements)[:, None]
            np.divide(target, places.astype(work), out=target)
    convert_into(target, result)
    if saved is not None:
        saved["places"] = places
    if not last:
        return result
    upper = [lod.offsets(k) for k in range(last - 1)]
    return tensor_core.new_tensor(result, core.make_lod([*upper, positions], len(result)))


def _dtypes(pool_type: Any, dtype: np.dtype[Any]) -> tuple[Any, np.dtype[Any]]:
    if pool_type not in ("sum", "mean", "max", "min"):
        raise ValueError(f'pool_positions: pool_type: is {pool_type!r}; "sum", "mean", "max" or "min" is needed')
    return numbers_of("pool_positions", pool_type, dtype)


@pool_positions.define_infer
def _(x: Spec, pool_type: str) -> Spec:
    return Spec(spec_rows(x), _dtypes(pool_type, x.dtype)[1], _last_level(x))


@pool_positions.define_vjp
def _(d: Array, x: LoDTensor, pool_type: str, places: Any, context: Any) -> Array:
    lod = x.lod
    d_x: Array = context.new("x")
    work, _ = _dtypes(pool_type, d_x.dtype)
    given, rows = cells_of(d, work), cells_for(d_x, work)
    if pool_type in ("max", "min"):
        rows[...] = 0
        rows.reshape(-1)[places.reshape(-1)] = given.reshape(-1)
    else:
        if pool_type == "mean":
            given = given / places.astype(work)
        kernels.position.spread_positions(given, *_positions(lod, lod.num_levels - 1), rows)
    convert_into(rows, d_x)
    return d_x
