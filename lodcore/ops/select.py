"""Operators that divide sequences by a mask, and bring them together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.lod import LoD
from lodcore.nested import as_array
from lodcore.ops.common import Array
from lodcore.ops.moving import as_rows_or_nested, level_of, put_together, spec_level, spec_rows
from lodcore.registry import Index, Rows, Spec, op
from lodcore.structure import check_coarser
from lodcore.tensor import LoDTensor

__all__ = ["merge_by_mask", "split_by_mask"]

BOOL = np.dtype(np.bool_)


def _chosen(where: str, mask: Any, count: int) -> Array:
    """Take a mask of `count` entries: private bytes, each 0 or 1, whatever memory lies under it."""
    if type(mask) is np.ndarray and mask.dtype is BOOL and mask.shape == (count,):
        return mask.astype(np.uint8)
    if isinstance(mask, LoDTensor):
        raise DTypeError(f"{where}: is LoDTensor; an array of bool is needed")
    given = as_array(where, mask)
    if given.dtype != np.bool_ and not (given.size == 0 and isinstance(mask, (list, tuple))):
        raise DTypeError(f"{where}: has dtype {given.dtype}; bool is needed")
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 0:
        given = np.broadcast_to(given, count)
    if given.shape != (count,):
        raise ShapeError(f"{where}: has shape {given.shape}; there are {count} sequences")
    chosen: Array = given.astype(bool).astype(np.uint8)
    return chosen


def _places(chosen: Array) -> tuple[Array, Array]:
    """Give the places where a mask is true, and where it is false."""
    places = buffers.new_int64(len(chosen))
    n_true = kernels.expand.split_mask(chosen, places)
    return buffers.view_rows(places, 0, n_true), buffers.view_rows(places, n_true, len(places))


def _row_level(where: str, level: int) -> None:
    """Raise if rows without a level are asked for any but the first."""
    if level not in (0, -1):
        raise LevelError(f"{where}: level: is {level}; x has no levels, only rows")


@op(lod="own", results=2)
def split_by_mask(x: Rows, mask: Index, level: int = 0) -> tuple[Any, Any]:
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
    return _split(x, mask, level)[0]


def _split(x: Any, mask: Any, level: int) -> tuple[tuple[Any, Any], Array]:
    """Do the work of `split_by_mask`; give also the mask, as private bytes."""
    where = "split_by_mask"
    x = as_rows_or_nested("split_by_mask: x", x)
    if not isinstance(x, LoDTensor):
        _row_level(where, level)
        chosen = _chosen("split_by_mask: mask", mask, len(x))
        true, false = _places(chosen)
        return (x[true], x[false]), chosen
    lod = x.lod
    k = level_of(where, lod, level)
    chosen = _chosen("split_by_mask: mask", mask, lod.num_sequences(k))
    true, false = _places(chosen)
    if k == 0:
        return (x._gather(where, 0, true), x._gather(where, 0, false)), chosen
    shorter = [_counted(chosen, lod, k), _counted(1 - chosen, lod, k)]
    return (x._gather(where, k, true, None, shorter[0]), x._gather(where, k, false, None, shorter[1])), chosen


def _counted(chosen: Array, lod: LoD, k: int) -> list[Array]:
    """Give the offsets of the levels before level k, of which only the chosen sequences are left."""
    left = buffers.new_int64(len(chosen) + 1)
    kernels.offsets.offsets_from_lengths(chosen.astype(np.int64), left)
    return [*(lod.offsets(j) for j in range(k - 1)), left[lod.offsets(k - 1)]]


@split_by_mask.saving
def _(x: Any, mask: Any, level: int = 0) -> tuple[tuple[Any, Any], Array]:
    return _split(x, mask, level)


@split_by_mask.infer
def _(x: Spec, mask: Any, level: int) -> tuple[Spec, Spec]:
    if x.num_levels:
        spec_level("split_by_mask", x.num_levels, level)
    else:
        _row_level("split_by_mask", level)
    side = x._replace(shape=spec_rows(x))
    return side, side


@split_by_mask.backward
def _(saved: Any, *d: Array | None) -> tuple[Array, None]:
    d_x, chosen = saved.new("x"), saved.hidden
    values = [side.values if isinstance(side, LoDTensor) else side for side in saved.out]
    both = [np.zeros_like(rows) if one is None else one for one, rows in zip(d, values, strict=True)]
    levels = [_row_offsets(side, saved.level) for side in saved.out]
    kernels.expand.merge_sequences(both, levels, chosen, buffers.new_int64(len(chosen) + 1), buffers.as_bytes(d_x))
    return d_x, None


def _row_offsets(x: Any, level: int) -> Array:
    """Give the offsets of a level in rows; rows without a level are sequences of one."""
    return x.lod.row_offsets(level) if isinstance(x, LoDTensor) else np.arange(len(x) + 1)


@op(lod="own")
def merge_by_mask(when_true: Rows, when_false: Rows, mask: Index, level: int = 0) -> Any:
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
    return _merge(when_true, when_false, mask, level)[0]


def _merge(when_true: Any, when_false: Any, mask: Any, level: int) -> tuple[Any, Array]:
    """Do the work of `merge_by_mask`; give also the mask, as private bytes."""
    where = "merge_by_mask"
    true = as_rows_or_nested("merge_by_mask: when_true", when_true)
    false = as_rows_or_nested("merge_by_mask: when_false", when_false)
    if isinstance(true, LoDTensor) != isinstance(false, LoDTensor):
        odd, depth = ("when_true", true) if isinstance(true, LoDTensor) else ("when_false", false)
        raise LoDError(f"{where}: {odd}: has {depth.lod.num_levels} levels; the other side has none")
    if not isinstance(true, LoDTensor):
        _row_level(where, level)
        single = [LoDTensor(x, LoD.from_offsets(np.arange(len(x) + 1))) for x in (true, false)]
        merged, chosen = _merged(where, single[0], single[1], mask, 0)
        return merged.values, chosen
    return _merged(where, true, false, mask, level_of(where, true.lod, level))


def _merged(where: str, true: LoDTensor, false: LoDTensor, mask: Any, k: int) -> tuple[LoDTensor, Array]:
    """Merge the sequences of level k."""
    values, lods = tensor_core.alike([true, false]) or _unlike(where, true, false)
    total = check_coarser(where, lods, ("when_true", "when_false").__getitem__, k - 1)
    counts = [lods[0].num_sequences(k), lods[1].num_sequences(k)]
    chosen = _chosen("merge_by_mask: mask", mask, counts[0] + counts[1])
    upper = _added(where, lods, chosen, k) if k else []
    rows: Array = buffers.new_rows(where, values[0], total)

    def join(arrays: list[Array], levels: list[Any], offsets: Array, out: Array) -> None:
        if kernels.expand.merge_sequences(arrays, levels, chosen, offsets, out) >= 0:
            n_true = np.count_nonzero(chosen)
            raise LoDError(f"{where}: mask: is true {n_true} times; when_true has {counts[0]} sequences")

    finer = put_together(where, lods, k, counts[0] + counts[1], values, rows, join)
    return tensor_core.new_tensor(rows, core.make_lod([*upper, *finer], total)), chosen


def _unlike(where: str, true: LoDTensor, false: LoDTensor) -> tuple[list[Array], list[LoD]]:
    """Raise if the rows of the sides differ."""
    ours, theirs = true.values, false.values
    if theirs.dtype != ours.dtype:
        raise DTypeError(f"{where}: when_false: has dtype {theirs.dtype}; when_true has {ours.dtype}")
    if theirs.shape[1:] != ours.shape[1:]:
        raise ShapeError(f"{where}: when_false: has rows of shape {theirs.shape[1:]}; when_true has {ours.shape[1:]}")
    return [ours, theirs], [true.lod, false.lod]


def _added(where: str, lods: list[LoD], chosen: Array, k: int) -> list[Array]:
    """Give the offsets of the levels before level k: those of the last one are added up."""
    true, false = lods
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


@merge_by_mask.saving
def _(when_true: Any, when_false: Any, mask: Any, level: int = 0) -> tuple[Any, Array]:
    return _merge(when_true, when_false, mask, level)


@merge_by_mask.infer
def _(when_true: Spec, when_false: Spec, mask: Any, level: int) -> Spec:
    if when_true.num_levels:
        spec_level("merge_by_mask", when_true.num_levels, level)
    else:
        _row_level("merge_by_mask", level)
    return when_true._replace(shape=spec_rows(when_true))


@merge_by_mask.backward
def _(saved: Any, d: Array) -> tuple[Array, Array, None]:
    ranges = _row_offsets(saved.out, saved.level)
    found = []
    for name, index in zip(("when_true", "when_false"), _places(saved.hidden), strict=True):
        pairs = np.stack([ranges[index], ranges[index + 1]], axis=1)
        found.append(saved.new(name))
        kernels.gather.copy_ranges(buffers.as_bytes(d), pairs, buffers.as_bytes(found[-1]))
    return found[0], found[1], None
