"""Indexing operators along any axis of the ragged shape: by slices, single elements, masks, and numbers.

Axis 0 holds the sequences of the batch, axis k the elements of the sequences of level k - 1: sequences of level k, or
rows for the last axis. Selected elements are copied with their contents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_number
from lodcore.base.memory import check_size
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import each_of, integer_of, integers_of, single_of
from lodcore.operators.copies import add_back, spec_rows
from lodcore.operators.lod_rules import levels_of
from lodcore.operators.operands import Array, check_equal
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Index, Nested
from lodcore.tensors import fast_paths, lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array
from lodcore.tensors.tensor import Spec

__all__ = ["pick_along", "select_by_mask", "slice_along", "take_nested", "take_of_each"]

LEAST, MOST = -(2**63), 2**63 - 1


def _axis(where: str, axis: Any, x: Any) -> int:
    """Return a checked axis of the levels of a tensor or a Spec."""
    number = axis if type(axis) is int else integer_of(f"{where}: axis", axis)
    count: int = x.num_levels
    if not count or not 0 <= number <= count:
        raise LoDError(f"{where}: axis: is {number}; x has {with_number(count, 'level')}, whose axes are 0 .. {count}")
    return number


def _number(where: str, given: Any, default: int) -> int:
    """Return a bound of a slice, which may be missing, clipped to int64."""
    if given is None:
        return default
    return min(max(single_of(where, given), LEAST), MOST)


def _picked(where: str, x: Any, axis: int, ranges: Array, size: int, upper: list[Array]) -> Any:
    """Gather ranges of the elements along an axis; the ranges are converted to ranges of rows in place."""
    taken = lod_tensor_body.take_ranges(x, where, axis, ranges, size, None, upper)
    return taken if taken.lod.num_levels else taken.values


def _upper(x: LoDTensor, count: int) -> list[Array]:
    """Return the offsets of the first levels."""
    return [x.lod.offsets(k) for k in range(count)]


#: The greatest number of bytes of rows that are copied one by one; of wider ones, whole runs are copied.
SMALL = (1, 2, 4, 8)

#: The LoD rule: as many levels as x; the sequences of the level before the axis are those that were selected.
PICKED = "as many levels as `x`; of the one before the axis what is picked of each sequence"


def _back(d: Array, places: Array, context: Any) -> tuple[Array, None]:
    """Add a cotangent to the rows that were selected."""
    return add_back(d, places, context.new("x")), None


# -- slices ------------------------------------------------------------------------------------------------------------


@operator(x=Nested, start=Index, stop=Index, step=Index, lod_rule=PICKED)
def slice_along(
    x: Any, start: Any = None, stop: Any = None, step: Any = None, axis: int = 0, *, saved: Saved = None
) -> Any:
    """Return the same slice of every sequence, start:stop:step.

    Parameters
    ----------
    x : LoDTensor or nested lists
    start, stop, step : int, optional
        As in a Python slice.
    axis : int
        0 .. num_levels: the axis of the batch, or of the elements of level axis - 1.

    Returns
    -------
    LoDTensor
        A view if the axis is 0 and the step is 1.

    Raises
    ------
    ValueError
        If step is 0.
    LoDError
        If the axis is not that of a level.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.slice_along([[1, 2, 3], [], [4, 5]], 1, None, axis=1)
    LoDTensor(3 sequences of lengths 0..2, int64: [[2, 3], [], [5]])
    """
    where = "slice_along"
    axis = _axis(where, axis, x.lod)
    first, last, by = _bounds(start, stop, step)
    offsets = lod_body.offsets_view(x.lod, axis - 1) if axis else np.array([0, len(x)])
    count = len(offsets) - 1
    new = buffers.new_offsets(count + 1)
    if by == 1:
        ranges = buffers.new_int64(count, 2)
        kernels.index.cut_ranges(offsets, first, last, ranges, new)
        if axis == 0:
            return _view(x, 0, ranges.item(0), ranges.item(1), saved)
    else:
        kernels.index.strided_offsets(offsets, first, last, by, new)
        ranges = buffers.new_int64(new.item(count), 2)
        kernels.index.strided_ranges(offsets, first, by, new, ranges)
    upper = [*_upper(x, axis - 1), new] if axis else []
    if saved is not None:
        saved["places"] = ranges
    return _picked(where, x, axis, ranges, new.item(count), upper)


def _bounds(start: Any, stop: Any, step: Any) -> tuple[int, int, int]:
    """Return the checked bounds and the step of a slice."""
    by = _number("slice_along: step", step, 1)
    if by == 0:
        raise ValueError("slice_along: step: is 0; any other integer is valid")
    by = max(by, -MOST)
    first = _number("slice_along: start", start, 0 if by > 0 else MOST)
    return first, _number("slice_along: stop", stop, MOST if by > 0 else LEAST), by


def _view(x: LoDTensor, axis: int, start: int, stop: int, saved: Saved) -> Any:
    """Return a view of sequences of level `axis`, or of rows; save the range of its rows."""
    lod, low, high = lod_body.cut(x.lod, axis, start, stop)
    if saved is not None:
        saved["places"] = np.array([[low, high]])
    rows = buffers.view_rows(x.values, low, high)
    return lod_tensor_body.new_tensor(rows, lod) if lod.num_levels else rows


@slice_along.define_infer
def _(x: Spec, start: Any, stop: Any, step: Any, axis: int) -> Spec:
    _axis("slice_along", axis, x)
    _bounds(*[None if isinstance(bound, Spec) else bound for bound in (start, stop, step)])
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@slice_along.define_vjp
def _(d: Array, places: Array, context: Any) -> tuple[Array, None, None, None]:
    return *_back(d, places, context), None, None


# -- single elements ---------------------------------------------------------------------------------------------------


@operator(
    x=Nested,
    index=Index,
    lod_rule="that of `x` without the level before the axis, the first for axis 0",
)
def pick_along(x: Any, index: Any, axis: int = 0, *, saved: Saved = None) -> Any:
    """Return one element of every sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : int, or array_like of integers, shape (n,)
        One for all, or one per sequence of level axis - 1. Negative numbers count from the end of the sequence. For
        axis 0, it must be an integer.
    axis : int
        0 .. num_levels, as in `slice_along`.

    Returns
    -------
    LoDTensor, or ndarray if no level is left
        Does not have that axis; along axis 0, it is a view.

    Raises
    ------
    IndexError
        If a sequence is too short; the message names the first one.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.pick_along([[1, 2, 3], [4, 5]], -1, axis=1)
    array([3, 5])
    """
    where = "pick_along"
    lod = x.lod
    axis = _axis(where, axis, lod)
    if axis == 0:
        number, size = _number(f"{where}: index", index, 0), len(x)
        if not -size <= number < size:
            raise IndexError(f"index {number} is out of bounds for axis 0 with size {size}")
        bounds = lod_body.offsets_view(lod, 0)
        return _view(x, 1, bounds[number % size], bounds[number % size + 1], saved)
    offsets = lod_body.offsets_view(lod, axis - 1)
    count = len(offsets) - 1
    numbers = each_of(f"{where}: index", index, count)
    ranges = buffers.new_int64(count, 2)
    bad = kernels.index.pick_ranges(offsets, numbers, ranges)
    if bad >= 0:
        raise IndexError(
            f"index {numbers[bad]} is out of bounds for sequence {bad} of level {axis - 1} with length "
            f"{offsets[bad + 1] - offsets[bad]}"
        )
    if saved is not None:
        saved["places"] = ranges
    return _picked(where, x, axis, ranges, count, _upper(x, axis - 1))


@pick_along.define_infer
def _(x: Spec, index: Any, axis: int) -> Spec:
    if _axis("pick_along", axis, x):
        each_of("pick_along: index", index, None)
    elif not isinstance(index, Spec):
        _number("pick_along: index", index, 0)
    return Spec(spec_rows(x), x.dtype, x.num_levels - 1)


@pick_along.define_vjp
def _(d: Array, places: Array, context: Any) -> tuple[Array, None]:
    return _back(d, places, context)


# -- masks -------------------------------------------------------------------------------------------------------------


@operator(x=Nested, mask=Index, lod_rule=PICKED)
def select_by_mask(x: Any, mask: Any, *, saved: Saved = None) -> Any:
    """Return the elements for which a mask is true.

    Parameters
    ----------
    x : LoDTensor or nested lists
    mask : array_like of bool, shape (n,) or (n, 1), or LoDTensor of bool
        A vector selects sequences of the batch. A LoDTensor with the first k levels of x selects elements of level
        k - 1, or rows if x has k levels; all sequences of that level are kept, possibly empty.

    Returns
    -------
    LoDTensor
        Has as many levels as x.

    Raises
    ------
    DTypeError
        If the mask is not of bool.
    ShapeError, LoDError
        If it does not have the right length or structure; the message names the first sequence that differs.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3], [], [4, 5]])
    >>> lodcore.ops.select_by_mask(x, [True, False, True])
    LoDTensor(2 sequences of lengths 2..3, int64: [[1, 2, 3], [4, 5]])
    >>> lodcore.ops.select_by_mask(x, lodcore.greater_than(x, 2))
    LoDTensor(3 sequences of lengths 0..2, int64: [[3], [], [4, 5]])
    """
    where = "select_by_mask"
    axis = _axis(where, levels_of(mask), x.lod)
    given = mask.values if isinstance(mask, LoDTensor) else as_array(f"{where}: mask", mask)
    _check_bool(given, given.size == 0 and isinstance(mask, (list, tuple)))
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    held = np.array(given, np.bool_)  # a private copy, which cannot change between counting and gathering
    if held.ndim != 1:
        raise ShapeError(f"{where}: mask: has rows of shape {held.shape[1:]}; one entry per element is needed")
    if axis:
        check_equal(where, lod_body.slice_levels(x.lod, 0, axis), mask.lod, "mask")
        offsets = lod_body.offsets_view(x.lod, axis - 1)
    else:
        if len(held) != len(x):
            raise ShapeError(f"{where}: mask: has {len(held)} entries; there are {len(x)} sequences")
        offsets = np.array([0, len(x)])
    bits = held.view(np.uint8)
    new = buffers.new_offsets(len(offsets))
    if axis == x.lod.num_levels and x.values[:1].nbytes in SMALL:
        kernels.index.true_offsets(offsets, bits, new)
        if saved is not None:
            saved["places"] = bits
        return fast_paths.where_true(x, bits, new)
    ranges = buffers.new_int64(kernels.index.true_offsets(offsets, bits, new), 2)
    kernels.index.true_ranges(bits, ranges)
    size = new.item(len(offsets) - 1)
    if saved is not None:
        saved["places"] = ranges
    return _picked(where, x, axis, ranges, size, [*_upper(x, axis - 1), new] if axis else [])


def _check_bool(mask: Any, empty: bool) -> None:
    """Raise if a mask, or its Spec, does not have dtype bool; an empty list is accepted."""
    if mask.dtype != np.bool_ and not empty:
        raise DTypeError(f"select_by_mask: mask: has dtype {mask.dtype}; bool is needed")


@select_by_mask.define_infer
def _(x: Spec, mask: Any) -> Spec:
    _axis("select_by_mask", levels_of(mask), x)
    if isinstance(mask, Spec):
        _check_bool(mask, mask.shape == (0,))
    else:
        _check_bool(as_array("select_by_mask: mask", mask), False)
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@select_by_mask.define_vjp
def _(d: Array, places: Array, context: Any) -> tuple[Array, None]:
    if places.ndim == 1:  # the mask of rows
        d_x: Array = context.new("x")
        kernels.index.put_true(buffers.as_bytes(d), places, buffers.as_bytes(d_x))
        return d_x, None
    return _back(d, places, context)


# -- numbers -----------------------------------------------------------------------------------------------------------


@operator(x=Nested, index=Nested, lod_rule=PICKED)
def take_nested(x: Any, index: Any, *, saved: Saved = None) -> Any:
    """Return elements of every sequence by their numbers in the sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : LoDTensor of integers, or nested lists
        Has the first k levels of x, with other lengths in the last of them: for each sequence of level k - 1 a list of
        numbers of its elements, in any order. They may repeat; negative ones count from the end.

    Returns
    -------
    LoDTensor
        Has as many levels as x; sequences of level k - 1 are as long as those of the index.

    Raises
    ------
    IndexError
        If a number is out of range; the message names the first one.
    LoDError
        If the structures of the index and of x differ; the message names the first sequence that differs.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.take_nested([[1, 2, 3], [], [4, 5]], [[2, 0], [], [-1]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[3, 1], [], [5]])
    """
    return _taken("take_nested", x, index, saved)


def _taken(where: str, x: LoDTensor, index: LoDTensor, saved: Saved) -> Any:
    """Take elements by their numbers in nested lists; save the ranges of their rows."""
    axis = _axis(where, index.lod.num_levels, x.lod)
    k = axis - 1
    if k:
        check_equal(where, lod_body.slice_levels(x.lod, 0, k), lod_body.slice_levels(index.lod, 0, k), "index")
    elif len(index) != len(x):
        raise LoDError(f"{where}: index: has {len(index)} sequences; x has {len(x)}")
    if not index.num_rows and index.dtype.kind not in "iu":
        numbers = buffers.new_int64(0)
    else:
        numbers = integers_of(f"{where}: index", index.values)
    offsets, new = lod_body.offsets_view(x.lod, k), index.lod.offsets(k)
    ranges = buffers.new_int64(len(numbers), 2)
    bad = kernels.index.nested_ranges(offsets, new, numbers, ranges)
    if bad >= 0:
        s = int(np.searchsorted(new, bad, "right")) - 1
        raise IndexError(
            f"index {numbers[bad]} is out of bounds for sequence {s} of level {k} with length "
            f"{offsets[s + 1] - offsets[s]}"
        )
    if saved is not None:
        saved["places"] = ranges
    return _picked(where, x, axis, ranges, len(numbers), [*_upper(x, k), new])


@take_nested.define_infer
def _(x: Spec, index: Any) -> Spec:
    _axis("take_nested", index.num_levels, x)
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@take_nested.define_vjp
def _(d: Array, places: Array, context: Any) -> tuple[Array, None]:
    return _back(d, places, context)


@operator(x=Nested, index=Index, lod_rule=PICKED)
def take_of_each(x: Any, index: Any, axis: int, *, saved: Saved = None) -> Any:
    """Return the same elements of every sequence by their numbers in the sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : array_like of integers, shape (m,)
        Numbers in any order. They may repeat; negative ones count from the end.
    axis : int
        1 .. num_levels: the axis of the elements of level axis - 1.

    Returns
    -------
    LoDTensor
        Has as many levels as x; sequences of level axis - 1 have m elements.

    Raises
    ------
    IndexError
        If a sequence is too short; the message names the first one.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.take_of_each([[1, 2, 3], [4, 5]], [-1, 0], 1)
    LoDTensor(2 sequences of length 2, int64: [[3, 1], [5, 4]])
    """
    where, lod, axis = "take_of_each", x.lod, _inner_axis(axis, x.lod)
    numbers = integers_of(f"{where}: index", index)
    count = lod.num_sequences(axis - 1)
    check_size(where, count, len(numbers), 8)
    offsets = np.arange(count + 1) * len(numbers)
    levels = [*_upper(x, axis - 1), offsets]
    nested = lod_tensor_body.new_tensor(np.tile(numbers, count), lod_body.make_lod(levels, offsets.item(count)))
    return _taken(where, x, nested, saved)


def _inner_axis(axis: Any, x: Any) -> int:
    """Return a checked axis of elements."""
    found = _axis("take_of_each", axis, x)
    if not found:
        raise LoDError("take_of_each: axis: is 0; use gather_sequences for whole sequences")
    return found


@take_of_each.define_infer
def _(x: Spec, index: Any, axis: int) -> Spec:
    _inner_axis(axis, x)
    integers_of("take_of_each: index", index)
    return Spec(spec_rows(x), x.dtype, x.num_levels)


@take_of_each.define_vjp
def _(d: Array, places: Array, context: Any) -> tuple[Array, None]:
    return _back(d, places, context)
