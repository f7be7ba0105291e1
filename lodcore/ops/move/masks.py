"""Operators that divide sequences by a mask, and merge them again."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.memory import unharmed
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.operators.arguments import integer_of, level_of, mask_of
from lodcore.operators.copies import as_rows_or_nested, put_together, spec_rows
from lodcore.operators.lod_rules import levels_of
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Index, Rows
from lodcore.tensors import fast_paths, lod_body, lod_tensor_body
from lodcore.tensors.joining import check_coarser
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["merge_by_mask", "split_by_mask"]


def _places(chosen: Array) -> tuple[Array, Array]:
    """Return the positions where a mask is true, and those where it is false."""
    places = buffers.new_int64(len(chosen))
    n_true = kernels.expand.split_mask(chosen, places)
    return buffers.view_rows(places, 0, n_true), buffers.view_rows(places, n_true, len(places))


def _level(where: str, x: Any, level: Any) -> int:
    """Return a checked level of a LoDTensor or a Spec; rows without levels have only level 0."""
    if levels_of(x):
        return level_of(where, x.lod if isinstance(x, LoDTensor) else x, level)
    if integer_of(f"{where}: level", level) not in (0, -1):
        raise LevelError(f"{where}: level: is {level}; x has no levels, only rows")
    return 0


@operator(
    x=Rows,
    mask=Index,
    lod_rule="as many levels as `x`; of the one before `level` what is left of each sequence",
    results=2,
)
def split_by_mask(x: Any, mask: Any, level: int = 0, *, saved: Saved = None) -> tuple[Any, Any]:
    """Divide the sequences of a level by a mask.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        If it has no level, its rows are divided.
    mask : array_like of bool, shape (n,) or (n, 1), or a scalar for all
        One entry per sequence of `level`, counted over the whole batch.
    level : int

    Returns
    -------
    when_true, when_false : LoDTensor, or ndarray if x has no level
        Have as many levels as x: sequences of the level before `level` are shorter, earlier levels are unchanged.

    Raises
    ------
    ShapeError, DTypeError, LevelError
        If the mask is not a vector of n booleans, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> when_true, when_false = lodcore.split_by_mask([[1, 2], [], [3]], [True, False, True])
    >>> when_true
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    >>> when_false
    LoDTensor(1 sequence of length 0, int64: [[]])
    """
    where = "split_by_mask"
    x = as_rows_or_nested("split_by_mask: x", x)
    if not isinstance(x, LoDTensor):
        _level(where, x, level)
        chosen = mask_of("split_by_mask: mask", mask, len(x))
        true, false = _places(chosen)
        if saved is not None:
            saved["chosen"] = chosen
        return x[true], x[false]
    lod = x.lod
    k = lod_body.normalize_level(lod, level, where)
    chosen = mask_of("split_by_mask: mask", mask, lod.num_sequences(k))
    true, false = _places(chosen)
    if k == 0:
        if saved is not None:
            saved["chosen"] = chosen
        return lod_tensor_body.gather(x, where, 0, true), lod_tensor_body.gather(x, where, 0, false)
    shorter = [_counted(chosen, lod, k), _counted(1 - chosen, lod, k)]
    if saved is not None:
        saved["chosen"] = chosen
    return lod_tensor_body.gather(x, where, k, true, None, shorter[0]), lod_tensor_body.gather(
        x, where, k, false, None, shorter[1]
    )


def _counted(chosen: Array, lod: LoD, k: int) -> list[Array]:
    """Return the offsets of the levels before level k if only the chosen sequences of level k are kept."""
    left = buffers.new_int64(len(chosen) + 1)
    unharmed(kernels.lod.offsets_from_lengths(chosen.astype(np.int64), left))
    return [*(lod.offsets(j) for j in range(k - 1)), left[lod.offsets(k - 1)]]


@split_by_mask.define_infer
def _(x: Spec, mask: Any, level: int) -> tuple[Spec, Spec]:
    _level("split_by_mask", x, level)
    mask_of("split_by_mask: mask", mask, None)
    side = Spec(spec_rows(x), x.dtype, x.num_levels)
    return side, side


@split_by_mask.define_vjp
def _(
    d_true: Array | None, d_false: Array | None, out: tuple[Any, Any], level: int, chosen: Array, context: Any
) -> tuple[Array, None]:
    d_x: Array = context.new("x")
    values = [side.values if isinstance(side, LoDTensor) else side for side in out]
    both = [np.zeros_like(rows) if d is None else d for d, rows in zip((d_true, d_false), values, strict=True)]
    levels = [_row_offsets(side, level) for side in out]
    unharmed(
        kernels.expand.merge_sequences(both, levels, chosen, buffers.new_int64(len(chosen) + 1), buffers.as_bytes(d_x))
    )
    return d_x, None


def _row_offsets(x: Any, level: int) -> Array:
    """Return the offsets of a level in rows; rows without a level are sequences of one row."""
    return x.lod.row_offsets(level) if isinstance(x, LoDTensor) else np.arange(len(x) + 1)


@operator(
    when_true=Rows,
    when_false=Rows,
    mask=Index,
    lod_rule="as many levels as `when_true`; sequences of the one before `level` add up",
)
def merge_by_mask(when_true: Any, when_false: Any, mask: Any, level: int = 0, *, saved: Saved = None) -> Any:
    """Merge the sequences of a level of two sides in the order of a mask: the inverse of `split_by_mask`.

    Parameters
    ----------
    when_true, when_false : LoDTensor, nested lists, ndarray or flat list
        Must have equal dtype, row shape and number of levels, and equal levels up to the one before `level`, whose
        lengths are added.
    mask : array_like of bool, shape (n,) or (n, 1), or a scalar for all
        Whether each sequence of the result is from `when_true`.
    level : int

    Returns
    -------
    LoDTensor, or ndarray if there are no levels

    Raises
    ------
    LoDError
        If the mask selects more or fewer sequences of a side than there are, or the levels before do not match.
    ShapeError, DTypeError, LevelError
        If the mask is not a vector of n booleans, dtypes or row shapes differ, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.merge_by_mask([[1, 2], []], [[3]], [True, False, True])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1, 2], [3], []])
    """
    where = "merge_by_mask"
    true = as_rows_or_nested("merge_by_mask: when_true", when_true)
    false = as_rows_or_nested("merge_by_mask: when_false", when_false)
    if not (isinstance(true, LoDTensor) and isinstance(false, LoDTensor)):
        _side_level(true, false, level)
        single = [LoDTensor(x, LoD.from_offsets(np.arange(len(x) + 1))) for x in (true, false)]
        return _merged(where, single[0], single[1], mask, 0, saved).values
    return _merged(where, true, false, mask, lod_body.normalize_level(true.lod, level, where), saved)


def _side_level(true: Any, false: Any, level: Any) -> int:
    """Return the checked level of two sides, or of their Specs; both must have levels or both none."""
    if (levels_of(true) > 0) != (levels_of(false) > 0):
        odd, depth = ("when_true", true) if levels_of(true) else ("when_false", false)
        raise LoDError(f"merge_by_mask: {odd}: has {with_number(depth.num_levels, 'level')}; the other side has none")
    return _level("merge_by_mask", true, level)


def _merged(where: str, true: LoDTensor, false: LoDTensor, mask: Any, k: int, saved: Saved) -> LoDTensor:
    """Merge the sequences of level k."""
    values, lods = fast_paths.uniform_parts([true, false]) or _checked(true, false)
    total = check_coarser(where, lods, ("when_true", "when_false").__getitem__, k - 1)
    counts = [lods[0].num_sequences(k), lods[1].num_sequences(k)]
    chosen = _chosen_of(mask, *counts)
    upper = _added(where, lods, chosen, k) if k else []
    rows: Array = buffers.new_rows(where, values[0], total)

    def join(arrays: list[Array], levels: list[Any], offsets: Array, out: Array) -> None:
        if kernels.expand.merge_sequences(arrays, levels, chosen, offsets, out) >= 0:
            n_true = np.count_nonzero(chosen)
            raise LoDError(f"{where}: mask: is true {n_true} times; when_true has {counts[0]} sequences")

    finer = put_together(where, lods, k, counts[0] + counts[1], values, rows, join)
    if saved is not None:
        saved["chosen"] = chosen
    return lod_tensor_body.new_tensor(rows, lod_body.make_lod([*upper, *finer], total))


def _chosen_of(mask: Any, n_true: int, n_false: int) -> Array:
    """Return the checked mask of two sides."""
    given: Array = mask_of(
        "merge_by_mask: mask", mask, None if isinstance(mask, (list, tuple)) or np.ndim(mask) else n_true + n_false
    )
    if len(given) != n_true + n_false:
        sides = f"when_true has {n_true} sequences and when_false {n_false}"
        raise ShapeError(f"merge_by_mask: mask: has {len(given)} entries; {sides}")
    return given


def _checked(true: LoDTensor, false: LoDTensor) -> tuple[list[Array], list[LoD]]:
    """Return the values and LoDs of two sides; raise if their rows differ in dtype or shape."""
    _check_rows(true.dtype, true.values.shape[1:], false.dtype, false.values.shape[1:])
    return [true.values, false.values], [true.lod, false.lod]


def _check_rows(dtype: Any, row_shape: tuple[Any, ...], other_dtype: Any, other_row_shape: tuple[Any, ...]) -> None:
    """Raise if the rows of the sides differ in dtype or shape."""
    if other_dtype != dtype:
        raise DTypeError(f"merge_by_mask: when_false: has dtype {other_dtype}; when_true has {dtype}")
    if other_row_shape != row_shape:
        raise ShapeError(f"merge_by_mask: when_false: has rows of shape {other_row_shape}; when_true has {row_shape}")


def _added(where: str, lods: list[LoD], chosen: Array, k: int) -> list[Array]:
    """Return the offsets of the levels before level k: the lengths of the last of them are added."""
    true, false = lods
    added: Array = true.offsets(k - 1) + false.offsets(k - 1)
    taken = buffers.new_int64(len(chosen) + 1)
    unharmed(kernels.lod.offsets_from_lengths(chosen.astype(np.int64), taken))
    wrong = taken[added] != true.offsets(k - 1)
    if wrong.any():
        s = int(np.argmax(wrong)) - 1
        asked = taken[added[s + 1]] - taken[added[s]]
        raise LoDError(
            f"{where}: mask: is true {asked} times in sequence {s} of level {k - 1}; "
            f"when_true has {true.lengths(k - 1)[s]} there"
        )
    return [*(true.offsets(j) for j in range(k - 1)), added]


@merge_by_mask.define_infer
def _(when_true: Spec, when_false: Spec, mask: Any, level: int) -> Spec:
    _side_level(when_true, when_false, level)
    if None not in (*when_true.shape[1:], *when_false.shape[1:]):
        _check_rows(when_true.dtype, when_true.shape[1:], when_false.dtype, when_false.shape[1:])
    mask_of("merge_by_mask: mask", mask, None)
    return Spec(spec_rows(when_true), when_true.dtype, when_true.num_levels)


@merge_by_mask.define_vjp
def _(
    d: Array, out: Any, level: int, chosen: Array, needs: Any, context: Any
) -> tuple[Array | None, Array | None, None]:
    ranges = _row_offsets(out, level)
    found: list[Array | None] = [None, None]
    for j, (name, index) in enumerate(zip(("when_true", "when_false"), _places(chosen), strict=True)):
        if getattr(needs, name):
            pairs = np.stack([ranges[index], ranges[index + 1]], axis=1)
            place = found[j] = context.new(name)
            kernels.gather.copy_ranges(buffers.as_bytes(d), pairs, buffers.as_bytes(place))
    return found[0], found[1], None
