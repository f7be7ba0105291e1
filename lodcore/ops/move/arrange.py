"""Rearranged elements of sequences: rolled, repeated, divided into sequences; and axes of rows as levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.memory import check_size
from lodcore.base.naming import with_arguments
from lodcore.errors import LoDError, ShapeError
from lodcore.operators.arguments import dense_of, each_of, level_of
from lodcore.operators.copies import add_back, row_ranges, sequence_numbers, spec_rows, sum_copies
from lodcore.operators.lod_rules import first_levels, outer
from lodcore.operators.operands import Array, check_equal, rows_of
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Counts, Dense, Index, Nested
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["rows_to_level", "sequence_repeat", "sequence_roll", "sequence_unflatten"]

# -- rolling -----------------------------------------------------------------------------------------------------------


@operator(x=Nested, shift=Index, lod_rule=outer("level"))
def sequence_roll(x: Any, shift: Any, level: int = -1, *, saved: Saved = None) -> LoDTensor:
    """Shift the elements of each sequence cyclically, as `numpy.roll` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
    shift : int, or array_like of integers, shape (n,)
        The number of positions, for all or for each of the n sequences of `level`; negative numbers shift backwards.
    level : int
        The level of the sequences whose elements are shifted; the contents of an element keep their order.

    Returns
    -------
    LoDTensor
        Has the same lengths; if rolled at the last level, it has the LoD of x itself.

    Raises
    ------
    ShapeError, DTypeError, LevelError
        If shift is not a vector of n integers, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_roll([[1, 2, 3], [], [4, 5]], 1).tolist()
    [[3, 1, 2], [], [5, 4]]
    """
    where, lod = "sequence_roll", x.lod
    k = level_of(where, lod, level)
    lengths, offsets = lod.lengths(k), lod.offsets(k)
    by = np.mod(each_of(f"{where}: shift", shift, len(lengths)), np.maximum(lengths, 1))
    ranges = buffers.new_int64(2 * len(lengths), 2)
    cuts = offsets[1:] - by
    ranges[::2, 0], ranges[::2, 1] = cuts, offsets[1:]
    ranges[1::2, 0], ranges[1::2, 1] = offsets[:-1], cuts
    total = offsets.item(len(lengths))
    if k + 1 == lod.num_levels:
        rows = buffers.new_rows(where, x.values, total)
        kernels.gather.copy_ranges(lod_tensor_body.rows_as_bytes(x), ranges, buffers.as_bytes(rows))
        rolled: LoDTensor = lod_tensor_body.new_tensor(rows, lod)
        if saved is not None:
            saved["places"] = ranges
        return rolled
    if saved is not None:
        saved["places"] = ranges
    return lod_tensor_body.take_ranges(x, where, k + 1, ranges, total, None, [lod.offsets(j) for j in range(k + 1)])


@sequence_roll.define_infer
def _(x: Spec, shift: Any, level: int) -> Spec:
    level_of("sequence_roll", x, level)
    each_of("sequence_roll: shift", shift, None)
    return Spec(spec_rows(x), x.dtype)


@sequence_roll.define_vjp
def _(d: Array, places: Array, context: Any) -> tuple[Array, None]:
    return add_back(d, places, context.new("x")), None


# -- repeating ---------------------------------------------------------------------------------------------------------


@operator(x=Nested, repeats=Counts, lod_rule=outer("level"))
def sequence_repeat(x: Any, repeats: Any, level: int = -1, *, saved: Saved = None) -> LoDTensor:
    """Repeat each element of each sequence, as `numpy.repeat` does.

    Parameters
    ----------
    x : LoDTensor or nested lists
    repeats : int, array_like of integers, shape (n,), or LoDTensor of integers
        How often, 0 or more: for all, for each of the n elements of `level` in the whole batch, or nested as these are.
    level : int
        The level of the sequences; the contents of an element are repeated with it.

    Returns
    -------
    LoDTensor
        Has as many levels as x.

    Raises
    ------
    ValueError
        If a number is negative; the message names it.
    ShapeError, LoDError, DTypeError, LevelError
        If repeats are not n integers or are nested differently, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_repeat([[1, 2], [], [3]], 2).tolist()
    [[1, 1, 2, 2], [], [3, 3]]
    >>> lodcore.sequence_repeat([[1, 2], [], [3]], [0, 1, 3]).tolist()
    [[2], [], [3, 3, 3]]
    """
    where, lod = "sequence_repeat", x.lod
    k = level_of(where, lod, level)
    if saved is None and type(repeats) is int:
        alike = _repeat_evenly(x, repeats, k)
        if alike is not None:
            return alike
    offsets = lod.offsets(k)
    count = offsets.item(len(offsets) - 1)
    if isinstance(repeats, LoDTensor) and repeats.num_levels:
        check_equal(where, lod.prefix(k + 1), repeats.lod, "repeats")
        repeats = repeats.values
    counts = with_arguments({"sequences": "elements"}, each_of, f"{where}: repeats", repeats, count)
    bounds = buffers.new_offsets(count + 1)
    bad = kernels.lod.offsets_from_lengths(counts, bounds)
    if bad >= 0:
        if counts[bad] >= 0:
            raise MemoryError(f"{where}: repeats: make more elements than int64 can count")
        raise ValueError(f"{where}: repeats: is {counts[bad]} at position {bad}; 0 or more is needed")
    if saved is not None:
        saved["bounds"] = bounds
    upper = [*(lod.offsets(j) for j in range(k)), bounds[offsets]]
    total = bounds.item(count)
    if k + 1 < lod.num_levels:
        return lod_tensor_body.gather(x, where, k + 1, sequence_numbers(bounds), None, upper)
    rows = buffers.new_rows(where, x.values, total)
    kernels.expand.repeat_rows(lod_tensor_body.rows_as_bytes(x), bounds, buffers.as_bytes(rows))
    repeated: LoDTensor = lod_tensor_body.new_tensor(rows, lod_body.make_lod(upper, total))
    return repeated


def _repeat_evenly(x: LoDTensor, times: int, k: int) -> LoDTensor | None:
    """Repeat all narrow rows equally often, by NumPy, which is faster; return None for anything else."""
    lod, count = x.lod, x.lod.num_rows
    if k + 1 < lod.num_levels or not 0 < x.values.nbytes <= 16 * count or not 0 <= times < 2**62 // count:
        return None
    check_size("sequence_repeat", count, times, x.values.nbytes // count)
    rows = np.repeat(buffers.for_reading(x.values), times, axis=0)
    levels = [*(lod.offsets(j) for j in range(k)), lod.offsets(k) * times]
    return lod_tensor_body.new_tensor(rows, lod_body.make_lod(levels, len(rows)))


def _check_numbers(where: str, given: Any) -> None:
    """Check the Spec, or the value, of integers that may be nested."""
    each_of(where, given.values if isinstance(given, LoDTensor) else given, None)


@sequence_repeat.define_infer
def _(x: Spec, repeats: Any, level: int) -> Spec:
    level_of("sequence_repeat", x, level)
    _check_numbers("sequence_repeat: repeats", repeats)
    return Spec(spec_rows(x), x.dtype)


@sequence_repeat.define_vjp
def _(d: Array, x: LoDTensor, level: int, bounds: Array, context: Any) -> tuple[Array, None]:
    k = lod_body.normalize_level(x.lod, level)
    if k + 1 == x.lod.num_levels:
        return sum_copies(d, bounds, context.new("x")), None
    return add_back(d, row_ranges(x.lod, k + 1, sequence_numbers(bounds)), context.new("x")), None


# -- levels from lengths, and from axes of rows ------------------------------------------------------------------------


@operator(
    x=Nested,
    lengths=Counts,
    lod_rule="that of `x`, and one more level below `level`",
)
def sequence_unflatten(x: Any, lengths: Any, level: int = -1) -> LoDTensor:
    """Divide the elements of each sequence into sequences of given lengths: one more level.

    Parameters
    ----------
    x : LoDTensor or nested lists
    lengths : int, array_like of integers, shape (m,), or LoDTensor of integers
        The lengths of the new sequences, consecutively for the whole batch; those in one sequence add up to its length.
        An empty one between two sequences of `level` belongs to the latter. A LoDTensor has one list per sequence of
        `level`. One number is the length of all.
    level : int

    Returns
    -------
    LoDTensor
        It shares the values.

    Raises
    ------
    LoDError
        If lengths do not add up to that of a sequence, which the message names.
    DTypeError, LevelError
        If lengths are not integers, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_unflatten([[1, 2, 3], [], [4, 5]], [1, 2, 2]).tolist()
    [[[1], [2, 3]], [], [[4, 5]]]
    >>> lodcore.sequence_unflatten([[1, 2, 3, 4], [5, 6]], 2).tolist()
    [[[1, 2], [3, 4]], [[5, 6]]]
    """
    where, lod = "sequence_unflatten", x.lod
    k = level_of(where, lod, level)
    offsets = lod.offsets(k)
    count = offsets.item(len(offsets) - 1)
    outer_offsets, bounds = _divisions(where, lod, k, lengths, offsets, count)
    found = bounds[np.minimum(outer_offsets, len(bounds) - 1)]
    wrong = found != offsets
    if len(offsets) > 1 and wrong.any():
        s = max(int(np.argmax(wrong)) - 1, 0)
        raise LoDError(
            f"{where}: lengths: do not add up to {offsets[s + 1] - offsets[s]}, the length of sequence {s} of level {k}"
        )
    if bounds.item(len(bounds) - 1) != count:
        raise LoDError(f"{where}: lengths: add up to {bounds.item(len(bounds) - 1)}; x has {count} elements")
    if len(offsets) == 1 and len(bounds) > 1:
        raise LoDError(
            f"{where}: lengths: has {len(bounds) - 1} entries; level {k} has no sequence that they could be in"
        )
    finer = [lod.offsets(j) for j in range(k + 1, lod.num_levels)]
    levels = [*(lod.offsets(j) for j in range(k)), outer_offsets, bounds, *finer]
    return lod_tensor_body.new_tensor(x.values, lod_body.make_lod(levels, lod.num_rows))


def _divisions(where: str, lod: LoD, k: int, lengths: Any, offsets: Array, count: int) -> tuple[Array, Array]:
    """Return the offsets of each sequence in new sequences (or past them), and those of the new ones in elements."""
    if isinstance(lengths, LoDTensor) and lengths.num_levels:
        if k:
            check_equal(where, lod.prefix(k), lengths.lod.prefix(lengths.num_levels - 1), "lengths")
        elif lengths.num_levels != 1 or len(lengths) != len(offsets) - 1:
            raise LoDError(
                f"{where}: lengths: has {with_number(lengths.num_levels, 'level')} and {len(lengths)} sequences; "
                "1 level and "
                f"{len(offsets) - 1} sequences are needed"
            )
        return lengths.lod.offsets(lengths.num_levels - 1), _bounds(where, lengths.values)
    if np.ndim(lengths) == 0:
        size = int(each_of(f"{where}: lengths", lengths, 1)[0])
        if size < 1:
            raise LoDError(f"{where}: lengths: is {size}; 1 or more is needed")
        parts = np.diff(offsets) % size
        if parts.any():
            s = int(np.argmax(parts != 0))
            raise LoDError(
                f"{where}: lengths: is {size}; sequence {s} of level {k} has length {offsets[s + 1] - offsets[s]}, "
                "which is not a multiple"
            )
        return offsets // size, np.arange(0, count + 1, size)
    bounds = _bounds(where, lengths)
    starts = np.searchsorted(bounds, offsets, "left")
    starts[-1:] = len(bounds) - 1
    return starts, bounds


def _bounds(where: str, lengths: Any) -> Array:
    """Compute offsets from lengths."""
    sizes = buffers.as_int64(lengths, f"{where}: lengths", LoDError).copy()
    bounds: Array = buffers.new_offsets(len(sizes) + 1)
    bad = kernels.lod.offsets_from_lengths(sizes, bounds)
    if bad >= 0:
        needed = "0 or more is needed" if sizes[bad] < 0 else "the sum must fit in int64"
        raise LoDError(f"{where}: lengths: is {sizes[bad]} at position {bad}; {needed}")
    return bounds


@sequence_unflatten.define_infer
def _(x: Spec, lengths: Any, level: int) -> Spec:
    k = level_of("sequence_unflatten", x, level)
    _check_numbers("sequence_unflatten: lengths", lengths)
    below = [(x, j) for j in range(k + 1, x.num_levels)]
    return Spec(spec_rows(x), x.dtype, [*first_levels(x, k, 2), *below])  # type: ignore[arg-type]


@sequence_unflatten.define_vjp
def _(d: Array) -> tuple[Array, None]:
    return d, None


@operator(x=Dense, lod_rule="that of `x`, and one more level of the first axis of its rows")
def rows_to_level(x: Any) -> LoDTensor:
    """Convert the first axis of rows to a level: each row becomes a sequence.

    Parameters
    ----------
    x : LoDTensor with rows of shape (m, ...), or array_like, shape (n, m, ...)

    Returns
    -------
    LoDTensor
        Has one more level, whose sequences all have m rows of shape (...). It shares the values.

    Raises
    ------
    ShapeError
        If rows have no axis.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.rows_to_level([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    >>> x = lodcore.LoDTensor.from_lengths([[1, 2], [3, 4], [5, 6]], [2, 1])
    >>> lodcore.rows_to_level(x).shape
    (2, None, None)
    """
    values = dense_of("rows_to_level: x", x, levels=True)
    _check_axes(values.shape)
    n_rows, width = values.shape[:2]
    levels = [x.lod.offsets(j) for j in range(x.lod.num_levels)] if isinstance(x, LoDTensor) else []
    levels.append(np.arange(n_rows + 1) * width)
    rows = np.ascontiguousarray(values).reshape(n_rows * width, *values.shape[2:])
    return lod_tensor_body.new_tensor(rows, lod_body.make_lod(levels, len(rows)))


def _check_axes(shape: tuple[int | None, ...]) -> None:
    """Raise if rows have no axis."""
    if len(shape) < 2:
        raise ShapeError(f"rows_to_level: x: has values of shape {shape}; rows with an axis are needed")


@rows_to_level.define_infer
def _(x: Spec) -> Spec:
    _check_axes(x.shape)
    return Spec((None, *x.shape[2:]), x.dtype, first_levels(x, x.num_levels, 1))


@rows_to_level.define_vjp
def _(d: Array, x: Any) -> Array:
    return d.reshape(np.shape(rows_of(x)))
