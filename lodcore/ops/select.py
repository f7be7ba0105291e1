"""Operators that divide sequences by a mask, and bring them together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.ops.common import Array
from lodcore.ops.moving import (
    as_rows_or_nested,
    below,
    check_coarser,
    check_total,
    copy_back,
    level_of,
    row_by_row,
    row_ranges,
    spec_level,
    spec_rows,
)
from lodcore.registry import Dense, Nested, Spec, op
from lodcore.tensor import LoDTensor

__all__ = ["merge_by_mask", "split_by_mask"]


def _places(where: str, mask: Any, count: int) -> tuple[Array, Array, int]:
    """Take a mask of `count` entries: private bytes, the places where it is true, then false, and how many are true."""
    if isinstance(mask, LoDTensor):
        raise DTypeError(f"{where}: is LoDTensor; an array of bool is needed")
    given = np.asarray(mask)
    if given.dtype != np.bool_ and not (given.size == 0 and isinstance(mask, (list, tuple))):
        raise DTypeError(f"{where}: has dtype {given.dtype}; bool is needed")
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 0:
        given = np.broadcast_to(given, count)
    if given.shape != (count,):
        raise ShapeError(f"{where}: has shape {given.shape}; there are {count} sequences")
    chosen = given.astype(np.uint8)
    places = buffers.new_int64(count)
    return chosen, places, kernels.expand.split_mask(chosen, places)


def _row_level(where: str, level: int) -> None:
    """Raise if rows without a level are asked for any but the first."""
    if level not in (0, -1):
        raise LevelError(f"{where}: level: is {level}; x has no levels, only rows")


@op(lod="own", results=2)
def split_by_mask(x: Nested, mask: Dense, level: int = 0) -> tuple[Any, Any]:
    """Divide the sequences of a level by a mask.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Without a level its rows are divided.
    mask : array_like of bool, shape (n,) or (n, 1), or a scalar for all
        One entry for each sequence of `level`, counted over the whole batch.
    level : int

    Returns
    -------
    when_true, when_false : LoDTensor, or ndarray if x has no level
        Of as many levels: the level before `level` has shorter sequences, those before it stay.

    Raises
    ------
    ShapeError, DTypeError, LevelError
        If the mask is no vector of n booleans, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> when_true, when_false = lodcore.split_by_mask([[1, 2], [], [3]], [True, False, True])
    >>> when_true
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    >>> when_false
    LoDTensor(1 sequence of length 0, int64: [[]])
    """
    return _split("split_by_mask", x, mask, level)[0]


def _split(where: str, x: Any, mask: Any, level: int) -> tuple[tuple[Any, Any], tuple[Array, int]]:
    """Do the work of `split_by_mask`; give also the places of both sides, and how many are true."""
    x = as_rows_or_nested(f"{where}: x", x)
    if not isinstance(x, LoDTensor):
        _row_level(where, level)
        _, places, n_true = _places(f"{where}: mask", mask, len(x))
        return (x[places[:n_true]], x[places[n_true:]]), (places, n_true)
    lod = x.lod
    k = level_of(where, lod, level)
    chosen, places, n_true = _places(f"{where}: mask", mask, lod.num_sequences(k))
    shorter = [_counted(chosen, lod, k), _counted(1 - chosen, lod, k)] if k else [[], []]
    when_true = x._gather(where, k, places[:n_true], None, shorter[0])
    return (when_true, x._gather(where, k, places[n_true:], None, shorter[1])), (places, n_true)


def _counted(chosen: Array, lod: LoD, k: int) -> list[Array]:
    """Give the offsets of the levels before level k, of which only the chosen sequences are left."""
    left = buffers.new_int64(len(chosen) + 1)
    kernels.offsets.offsets_from_lengths(chosen.astype(np.int64), left)
    return [*(lod.offsets(j) for j in range(k - 1)), left[lod.offsets(k - 1)]]


@split_by_mask.saving
def _(x: Any, mask: Any, level: int = 0) -> tuple[tuple[Any, Any], tuple[Array, int]]:
    return _split("split_by_mask", x, mask, level)


@split_by_mask.infer
def _(x: Spec, mask: Any, level: int) -> tuple[Spec, Spec]:
    if x.num_levels:
        spec_level("split_by_mask", x.num_levels, level)
    else:
        _row_level("split_by_mask", level)
    side = x._replace(shape=spec_rows(x))
    return side, side


@split_by_mask.backward
def _(saved: Any, d_true: Array | None, d_false: Array | None) -> tuple[Array, None]:
    places, n_true = saved.hidden
    x, d_x = saved.x, saved.new("x")
    both = [
        np.zeros_like(side.values if isinstance(side, LoDTensor) else side) if d is None else d
        for d, side in zip((d_true, d_false), saved.out, strict=True)
    ]
    if isinstance(x, LoDTensor) and x.lod.num_levels:
        ranges = row_ranges(x.lod, x.lod._level(saved.level), places)
    else:
        ranges = row_by_row(places)
    kernels.expand.join_ranges(both, [ranges[:n_true], ranges[n_true:]], buffers.as_bytes(d_x))
    return d_x, None


@op(lod="own")
def merge_by_mask(when_true: Nested, when_false: Nested, mask: Dense, level: int = 0) -> Any:
    """Bring the sequences of a level together in the order of a mask: the inverse of `split_by_mask`.

    Parameters
    ----------
    when_true, when_false : LoDTensor, nested lists, ndarray or flat list
        Of equal dtype, row shape and depth. Lengths of the level before `level` add up, those before it are equal.
    mask : array_like of bool, shape (n,) or (n, 1), or a scalar for all
        Tells for each sequence of the result from which side it is.
    level : int

    Returns
    -------
    LoDTensor, or ndarray if there are no levels

    Raises
    ------
    LoDError
        If the mask takes more or fewer sequences of a side than there are, or the levels before do not fit.
    ShapeError, DTypeError, LevelError
        If the mask is no vector of n booleans, the rows differ, or there is no such level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.merge_by_mask([[1, 2], []], [[3]], [True, False, True])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 2], [3], []])
    """
    return _merge("merge_by_mask", when_true, when_false, mask, level)[0]


def _merge(where: str, when_true: Any, when_false: Any, mask: Any, level: int) -> tuple[Any, list[Array]]:
    """Do the work of `merge_by_mask`; give also where the rows of both sides have come to stand."""
    sides = [
        as_rows_or_nested(f"{where}: {name}", side)
        for name, side in (("when_true", when_true), ("when_false", when_false))
    ]
    values = [side.values if isinstance(side, LoDTensor) else side for side in sides]
    lods = [side.lod if isinstance(side, LoDTensor) else LoD.from_offsets(num_rows=len(side)) for side in sides]
    depths = [lod.num_levels for lod in lods]
    if depths[0] != depths[1]:
        raise LoDError(f"{where}: when_false: has {depths[1]} levels; when_true has {depths[0]}")
    _check_rows(where, *values)
    total = check_total(where, lods)
    levels: list[Array] = []
    if not depths[0]:
        _row_level(where, level)
        _, places, n_true = _places(f"{where}: mask", mask, total)
        _check_count(where, n_true, len(values[0]), "rows")
        units = row_by_row(places)
        ranges = [units[:n_true], units[n_true:]]
    else:
        levels, ranges = _merged_levels(where, lods, mask, level_of(where, lods[0], level))
    rows = buffers.new_rows(where, values[0], total)
    kernels.expand.join_ranges(values, ranges, buffers.as_bytes(rows))
    return (tensor_core.new_tensor(rows, core.make_lod(levels, total)) if levels else rows), ranges


def _merged_levels(where: str, lods: list[LoD], mask: Any, k: int) -> tuple[list[Array], list[Array]]:
    """Give the offsets of the merged levels, and where the rows of both sides come to stand."""
    counts = [lod.num_sequences(k) for lod in lods]
    chosen, _, n_true = _places(f"{where}: mask", mask, sum(counts))
    _check_count(where, n_true, counts[0], f"sequences at level {k}")
    levels = _added(where, lods, chosen, k) if k else []
    true, false = (buffers.new_int64(count, 2) for count in counts)
    merged = buffers.new_offsets(sum(counts) + 1)
    kernels.expand.merge_offsets(lods[0]._view(k), lods[1]._view(k), chosen, true, false, merged)
    ranges = [true, false]
    levels.append(merged)
    if k + 1 < lods[0].num_levels:
        finer, ranges = below(where, lods, k, ranges)
        levels += finer
    return levels, ranges


def _added(where: str, lods: list[LoD], chosen: Array, k: int) -> list[Array]:
    """Give the offsets of the levels before level k: those of the last one are added up."""
    true, false = lods
    check_coarser(where, [true, false], ["when_true", "when_false"], k - 1)
    added: Array = true.offsets(k - 1) + false.offsets(k - 1)
    taken = buffers.new_int64(len(chosen) + 1)
    kernels.offsets.offsets_from_lengths(chosen.astype(np.int64), taken)
    wrong = taken[added] != true.offsets(k - 1)
    if wrong.any():
        s = int(np.argmax(wrong)) - 1
        asked = taken[added[s + 1]] - taken[added[s]]
        raise LoDError(
            f"{where}: mask: is true {asked} times in sequence {s} of level {k - 1}; "
            f"when_true has {true.lengths(k - 1)[s]} there"
        )
    return [*(true.offsets(j) for j in range(k - 1)), added]


def _check_count(where: str, n_true: int, count: int, things: str) -> None:
    if n_true != count:
        raise LoDError(f"{where}: mask: is true {n_true} times; when_true has {count} {things}")


def _check_rows(where: str, true: Array, false: Array) -> None:
    if false.dtype != true.dtype:
        raise DTypeError(f"{where}: when_false: has dtype {false.dtype}; when_true has {true.dtype}")
    if false.shape[1:] != true.shape[1:]:
        raise ShapeError(f"{where}: when_false: has rows of shape {false.shape[1:]}; when_true has {true.shape[1:]}")


@merge_by_mask.saving
def _(when_true: Any, when_false: Any, mask: Any, level: int = 0) -> tuple[Any, list[Array]]:
    return _merge("merge_by_mask", when_true, when_false, mask, level)


@merge_by_mask.infer
def _(when_true: Spec, when_false: Spec, mask: Any, level: int) -> Spec:
    if when_true.num_levels:
        spec_level("merge_by_mask", when_true.num_levels, level)
    else:
        _row_level("merge_by_mask", level)
    return when_true._replace(shape=spec_rows(when_true))


@merge_by_mask.backward
def _(saved: Any, d: Array) -> tuple[Array, Array, None]:
    true, false = saved.hidden
    return copy_back(d, true, saved.new("when_true")), copy_back(d, false, saved.new("when_false")), None
