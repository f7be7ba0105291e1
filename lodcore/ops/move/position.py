"""Inserting and removing levels, and transposing sequences to positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.memory import unharmed
from lodcore.errors import DTypeError, LevelError, LoDError
from lodcore.operators.arguments import dense_of, integer_of, level_of
from lodcore.operators.copies import add_back, spec_rows
from lodcore.operators.lod_rules import levels_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, Nested
from lodcore.ops.reduce.pool import cells_for, cells_of, convert_into, numbers_of, result_rows
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["by_position", "drop_level", "insert_level", "pool_positions"]


@operator(x=Dense, lod_rule="that of `x`, and one more level at `level`, or at each of several")
def insert_level(x: Any, level: int | tuple[int, ...], whole: bool = False) -> Any:
    """Insert a level.

    Parameters
    ----------
    x : LoDTensor or array_like
    level : int or tuple of int
        0 .. num_levels: the number of the new level. Each of the sequences or rows that were there becomes a sequence
        of one element. Several levels are inserted one after the other.
    whole : bool
        Whether to put all of them into one sequence, for level 0 only; with several levels, this is the first one.

    Returns
    -------
    LoDTensor
        Has one more level, or as many as there are numbers; it shares the values.

    Raises
    ------
    LevelError, DTypeError
        If a level is out of range, above 0 with `whole`, or not an integer, or x is a number.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.insert_level(lodcore.array([[1, 2], [3]]), 1).tolist()
    [[[1], [2]], [[3]]]
    >>> lodcore.ops.insert_level([1, 2, 3], 0, whole=True).tolist()
    [[1, 2, 3]]
    """
    values = dense_of("insert_level: x", x, levels=True)
    numbers = _inserted(values.ndim, levels_of(x), level, whole)
    lod = x.lod if isinstance(x, LoDTensor) else lod_body.make_lod([], len(values))
    levels = [lod.offsets(k) for k in range(lod.num_levels)]
    for j, number in enumerate(numbers):
        count = len(levels[number]) - 1 if number < len(levels) else lod.num_rows
        levels.insert(number, np.array([0, count]) if whole and not j else np.arange(count + 1))
    return lod_tensor_body.new_tensor(np.ascontiguousarray(values), lod_body.make_lod(levels, lod.num_rows))


def _inserted(ndim: int, num_levels: int, level: Any, whole: bool) -> list[int]:
    """Check that there are rows; return the checked levels to insert."""
    if ndim == 0:
        raise DTypeError("insert_level: x: is a number; rows are needed")
    numbers = [integer_of("insert_level: level", one) for one in (level if isinstance(level, tuple) else (level,))]
    for j, number in enumerate(numbers):
        if not 0 <= number <= (0 if whole and not j else num_levels + j):
            raise LevelError(f"insert_level: level: is {level}; x has {with_number(num_levels, 'level')}")
    return numbers


@insert_level.define_infer
def _(x: Spec, level: Any, whole: bool) -> Spec:
    return Spec(spec_rows(x), x.dtype, x.num_levels + len(_inserted(len(x.shape), x.num_levels, level, whole)))


@insert_level.define_vjp
def _(d: Array) -> Array:
    return d


def _left(x: Any, level: Any, count: Any) -> int:
    """Count the levels that remain when some are removed."""
    k = level_of("drop_level", x, level)
    return levels_of(x) - integer_of("drop_level: count", count, 1, levels_of(x) - k)


@operator(x=Nested, lod_rule="that of `x` without `level`, or `count` levels")
def drop_level(x: Any, level: int = 0, count: int = 1) -> Any:
    """Remove a level, as `LoDTensor.flatten` does, or several that follow each other.

    Parameters
    ----------
    x : LoDTensor or nested lists
    level : int
        The first one that is removed.
    count : int
        How many, 1 or more.

    Returns
    -------
    LoDTensor, or ndarray if no level is left
        It shares the values.

    Raises
    ------
    LevelError, ValueError
        If the level does not exist, or count is out of range.
    LoDError, DTypeError
        If x is not a tensor with levels, or level or count are not integers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.drop_level([[[1, 2], [3]], [[4]]])
    LoDTensor(3 sequences of lengths 1..2, int64: [[1, 2], [3], [4]])
    """
    lod = x.lod
    k = level_of("drop_level", lod, level)
    usual = type(count) is int and count == 1
    left = lod.num_levels - 1 if usual else _left(x, level, count)
    if count == 1 or k == 0:
        lod = lod.drop(k) if count == 1 else lod_body.slice_levels(lod, count, lod.num_levels)
    else:
        joined = lod.offsets(k + count - 1)
        for j in range(k + count - 2, k - 2, -1):
            upper = lod.offsets(j)
            finer, joined = joined, buffers.new_int64(len(upper))
            kernels.lod.compose(upper, finer, joined)
        others = [lod.offsets(j) for j in range(lod.num_levels) if not k - 1 <= j < k + count]
        lod = lod_body.make_lod([*others[: k - 1], joined, *others[k - 1 :]], lod.num_rows)
    return lod_tensor_body.new_tensor(x.values, lod) if left else x.values


@drop_level.define_infer
def _(x: Spec, level: int, count: int) -> Spec:
    return Spec(spec_rows(x), x.dtype, _left(x, level, count))


@drop_level.define_vjp
def _(d: Array) -> Array:
    return d


@operator(x=Nested, lod_rule="as many levels as `x`, of which that of `axis` counts positions; fewer for axes")
def by_position(x: Any, axis: int | tuple[int, ...] = 0, last: int | None = None, *, saved: Saved = None) -> Any:
    """Group the elements of sequences by position: the first elements of all of them, then the second ones, and so on.

    Parameters
    ----------
    x : LoDTensor or nested lists
    axis : int or tuple of int
        0 .. num_levels - 1: the axis of the batch, or of the elements of level axis - 1. Several are joined to one, and
        may contain `last`.
    last : int, optional
        The axis whose elements are grouped, by their positions along all axes up to it but `axis`; by default the axis
        after `axis`.

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
    >>> x = lodcore.array([[[1, 2], [3]], [[4], [5, 6]]])
    >>> lodcore.ops.by_position(x, 0, 2).tolist(), lodcore.ops.by_position(x, (0, 2), 2).tolist()
    ([[[1, 4], [2]], [[3, 5], [6]]], [[1, 2, 4], [3, 5, 6]])
    """
    lod = x.lod
    moved, end = _axes(axis, last, lod.num_levels)
    upper, elements, order = _next(lod, moved[0]) if moved == [end - 1] else _behind(lod, moved, end)
    if end == lod.num_levels:  # each row is moved once
        if saved is not None:
            saved["places"] = order
        return lod_tensor_body.new_tensor(
            x.values.take(order, axis=0), lod_body.make_lod([*upper, elements], len(order))
        )
    ranges = np.stack([order, order + 1], axis=1)
    if saved is not None:
        saved["places"] = ranges
    return lod_tensor_body.take_ranges(x, "by_position", end, ranges, len(order), None, [*upper, elements])


def _next(lod: LoD, axis: int) -> tuple[list[Array], Array, Array]:
    """Return the levels, and the order of the elements, if an axis changes places with the next one."""
    outer, offsets, positions = _positions(lod, axis)
    elements = buffers.new_offsets(positions.item(len(positions) - 1) + 1)
    kernels.position.count_elements(outer, offsets, positions, elements)
    order = buffers.new_int64(elements.item(len(elements) - 1))
    kernels.position.order_by_position(outer, offsets, positions, np.array(elements[:-1]), order)
    return [*[lod.offsets(k) for k in range(axis - 1)], *([positions] if axis else [])], elements, order


def _behind(lod: LoD, moved: list[int], last: int) -> tuple[list[Array], Array, Array]:
    """Return the levels, and the order of the elements, if axes are moved after all axes up to another one.

    From axis to axis, `groups` numbers the elements by their positions along the axes that stay.
    """
    upper, groups, count, behind = [], np.zeros(1, np.int64), 1, set(moved)
    for axis in range(last + 1):
        offsets = lod.offsets(axis - 1) if axis else np.array([0, lod.num_sequences(0)])
        lengths = np.diff(offsets)
        if axis in behind:
            groups = np.repeat(groups, lengths)
            continue
        longest = np.zeros(count, np.int64)
        np.maximum.at(longest, groups, lengths)
        positions = buffers.new_offsets(count + 1)
        unharmed(kernels.lod.offsets_from_lengths(longest, positions))
        groups = np.repeat(positions[groups] - offsets[:-1], lengths)
        groups += np.arange(len(groups))
        count = positions.item(count)
        upper.append(positions)
    elements, order = buffers.new_offsets(count + 1), buffers.new_int64(len(groups))
    unharmed(kernels.group.order_by_id(groups, elements, order))
    return upper[1:], elements, order


def _positions(lod: LoD, axis: int) -> tuple[Any, Any, Any]:
    """Return three offsets: of groups of sequences of level `axis`, of these sequences, of each group's positions."""
    offsets = lod_body.offsets_view(lod, axis)
    outer = lod_body.offsets_view(lod, axis - 1) if axis else np.array([0, len(offsets) - 1])
    positions = buffers.new_offsets(len(outer))
    kernels.position.count_positions(outer, offsets, positions)
    return outer, offsets, positions


def _axes(axis: Any, last: Any, num_levels: int) -> tuple[list[int], int]:
    """Return the checked axes that are moved, and the last one, whose elements are grouped."""
    given = axis if isinstance(axis, tuple) else (axis,)
    if not given:
        raise LevelError("by_position: axis: is (); one axis or more is needed")
    numbers = [integer_of("by_position: axis", one) for one in given]
    end = min(max(numbers) + 1, num_levels) if last is None else integer_of("by_position: last", last)
    highest = num_levels - (last is None and len(numbers) == 1)
    for number in numbers:
        if not 0 <= number <= highest:
            raise LevelError(f"by_position: axis: is {axis}; x has {with_number(num_levels, 'level')}")
    if not max(numbers) <= end <= num_levels:
        raise LevelError(f"by_position: last: is {last}; {max(numbers)} .. {num_levels} are possible")
    moved = sorted(set(numbers))
    if len(moved) < len(numbers) or len(moved) > end:
        raise LevelError(f"by_position: axis: is {axis}; different axes, not all up to {end}, are needed")
    return moved, end


@by_position.define_infer
def _(x: Spec, axis: Any, last: Any) -> Spec:
    return Spec(spec_rows(x), x.dtype, x.num_levels + 1 - len(_axes(axis, last, x.num_levels)[0]))


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
    work, dtype = _dtypes(pool_type, x.dtype)
    lod, last = x.lod, _last_level(x)
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
    return lod_tensor_body.new_tensor(result, lod_body.make_lod([*upper, positions], len(result)))


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
