"""Axes put in, and sequences turned to what they have at each position."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LoDError
from lodcore.ops.common import Array, array_of
from lodcore.ops.moving import add_back, spec_level, spec_rows
from lodcore.registry import Dense, Nested, Spec, op
from lodcore.tensor import LoDTensor, as_nested

__all__ = ["by_position", "drop_level", "insert_level"]


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
    offsets = lod._view(axis)
    count = int(offsets[len(offsets) - 1])
    positions, groups = buffers.new_int64(count), np.zeros(count, np.int64)
    kernels.offsets.positions(offsets, positions)
    num_groups = 1
    if axis:
        sequences = buffers.new_int64(count)
        kernels.offsets.segment_ids(offsets, sequences)
        groups = _groups(lod, axis)[sequences]
        num_groups = lod.num_sequences(axis - 1)
    order = np.lexsort((positions, groups))
    positions, groups = positions[order], groups[order]
    begins = np.ones(count, bool)
    begins[1:] = (positions[1:] != positions[:-1]) | (groups[1:] != groups[:-1])
    inner = np.append(np.flatnonzero(begins), count)
    upper = [lod.offsets(k) for k in range(axis - 1)]
    if axis:
        outer = np.zeros(num_groups + 1, np.int64)
        np.cumsum(np.bincount(groups[begins], minlength=num_groups), out=outer[1:])
        upper.append(outer)
    ranges = np.stack([order, order + 1], axis=1)
    return x._take(where, axis + 1, ranges, count, None, [*upper, inner]), ranges


def _groups(lod: Any, axis: int) -> Array:
    """Give for each sequence of level `axis` the one of the level before that it belongs to."""
    groups = buffers.new_int64(lod.num_sequences(axis))
    kernels.offsets.segment_ids(lod._view(axis - 1), groups)
    return groups


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
    return (add_back(d, saved.hidden, saved.new("x")),)
