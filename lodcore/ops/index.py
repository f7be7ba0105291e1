"""What an index picks: slices, single elements, masks, numbers; along any axis of the ragged shape.

Axis 0 holds the sequences of the batch, axis k the elements of the sequences of level k - 1: sequences of level k, or
rows at the last. All that is picked is moved whole, with what is inside.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lodcore import buffers, core, kernels, tensor_core
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.memory import check_size
from lodcore.ops.common import Array, check_equal
from lodcore.ops.moving import add_back, spec_rows
from lodcore.registry import Index, Nested, NestedIndex, Spec, op
from lodcore.tensor import LoDTensor, as_nested, as_nested_index

__all__ = ["pick_along", "select_by_mask", "slice_along", "take_nested", "take_of_each"]

LEAST, MOST = -(2**63), 2**63 - 1


def _axis(where: str, axis: Any, num_levels: int) -> int:
    """Check an axis of levels."""
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"{where}: axis: is {axis!r}; an integer is needed")
    if not num_levels or not 0 <= axis <= num_levels:
        raise LoDError(f"{where}: axis: is {axis}; x has {num_levels} levels, whose axes are 0 .. {num_levels}")
    return int(axis)


def _number(where: str, given: Any, default: int) -> int:
    """Take a bound of a slice, which may be missing, into int64."""
    if given is None:
        return default
    if isinstance(given, np.ndarray) and given.size == 1 and given.dtype.kind in "iu":
        given = given.item()
    if isinstance(given, (bool, np.bool_)) or not hasattr(given, "__index__"):
        raise DTypeError(f"{where}: is {given!r}; an integer is needed")
    return min(max(operator.index(given), LEAST), MOST)


def _picked(where: str, x: Any, axis: int, ranges: Array, size: int, upper: list[Array]) -> Any:
    """Take ranges of the elements along an axis, which are rewritten to ranges of rows."""
    taken = x._take(where, axis, ranges, size, None, upper)
    return taken if taken.lod.num_levels else taken.values


def _upper(x: LoDTensor, count: int) -> list[Array]:
    """Give the offsets of the first levels."""
    return [x.lod.offsets(k) for k in range(count)]


def _back(saved: Any, d: Array) -> Array:
    """Add a cotangent to the rows that were picked."""
    return add_back(d, saved.hidden, saved.new("x"))


# -- slices ------------------------------------------------------------------------------------------------------------


@op(lod="own")
def slice_along(x: Nested, start: Index = None, stop: Index = None, step: Index = None, axis: int = 0) -> Any:
    """Take the same slice of every sequence, start:stop:step.

    Parameters
    ----------
    x : LoDTensor or nested lists
    start, stop, step : int, optional
        As in a slice of Python.
    axis : int
        0 .. num_levels: that of the batch, or of the elements of level axis - 1.

    Returns
    -------
    LoDTensor
        A view, along axis 0 with step 1.

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
    return _sliced(x, start, stop, step, axis)[0]


@slice_along.saving
def _sliced(x: Any, start: Any = None, stop: Any = None, step: Any = None, axis: int = 0) -> tuple[Any, Array]:
    where = "slice_along"
    x = as_nested(f"{where}: x", x)
    axis = _axis(where, axis, x.lod.num_levels)
    by = _number(f"{where}: step", step, 1)
    if by == 0:
        raise ValueError(f"{where}: step: is 0; any other integer is valid")
    by = max(by, -MOST)
    first = _number(f"{where}: start", start, 0 if by > 0 else MOST)
    last = _number(f"{where}: stop", stop, MOST if by > 0 else LEAST)
    offsets = x.lod._view(axis - 1) if axis else np.array([0, len(x)])
    count = len(offsets) - 1
    new = buffers.new_offsets(count + 1)
    if by == 1:
        ranges = buffers.new_int64(count, 2)
        kernels.index.cut_ranges(offsets, first, last, ranges, new)
        if axis == 0:
            return _view(x, 0, *ranges[0].tolist())
    else:
        kernels.index.strided_offsets(offsets, first, last, by, new)
        ranges = buffers.new_int64(new.item(count), 2)
        kernels.index.strided_ranges(offsets, first, by, new, ranges)
    upper = [*_upper(x, axis - 1), new] if axis else []
    return _picked(where, x, axis, ranges, new.item(count), upper), ranges


def _view(x: LoDTensor, axis: int, start: int, stop: int) -> tuple[Any, Array]:
    """Cut sequences of level `axis`, or rows, out as a view; give also where its rows lie."""
    lod, low, high = core.cut(x.lod, axis, start, stop)
    rows = buffers.view_rows(x.values, low, high)
    return tensor_core.new_tensor(rows, lod) if lod.num_levels else rows, np.array([[low, high]])


@slice_along.infer
def _(x: Spec, start: Any, stop: Any, step: Any, axis: int) -> Spec:
    _axis("slice_along", axis, x.num_levels)
    return Spec(spec_rows(x), x.dtype, x.num_levels, LoDTensor)


@slice_along.backward
def _(saved: Any, d: Array) -> tuple[Array, None, None, None]:
    return _back(saved, d), None, None, None


# -- one of each -------------------------------------------------------------------------------------------------------


@op(lod="own")
def pick_along(x: Nested, index: Index, axis: int = 0) -> Any:
    """Pick one element of every sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : int, or array_like of integers, shape (n,)
        One for all, or one a sequence of level axis - 1. Negative ones count from the end of the sequence. An
        integer, with axis 0.
    axis : int
        0 .. num_levels, as of `slice_along`.

    Returns
    -------
    LoDTensor, or ndarray if no level is left
        Without that axis; a view, along axis 0.

    Raises
    ------
    IndexError
        Naming the first sequence that is too short.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.pick_along([[1, 2, 3], [4, 5]], -1, axis=1)
    array([3, 5])
    """
    return _pick(x, index, axis)[0]


@pick_along.saving
def _pick(x: Any, index: Any, axis: int = 0) -> tuple[Any, Array]:
    where = "pick_along"
    x = as_nested(f"{where}: x", x)
    lod = x.lod
    axis = _axis(where, axis, lod.num_levels)
    if axis == 0:
        number, size = _number(f"{where}: index", index, 0), len(x)
        if not -size <= number < size:
            raise IndexError(f"index {number} is out of bounds for axis 0 with size {size}")
        bounds = lod._view(0)
        return _view(x, 1, bounds[number % size], bounds[number % size + 1])
    offsets = lod._view(axis - 1)
    count = len(offsets) - 1
    numbers = buffers.for_each(index, f"{where}: index", count)
    ranges = buffers.new_int64(count, 2)
    bad = kernels.index.pick_ranges(offsets, numbers, ranges)
    if bad >= 0:
        raise IndexError(
            f"index {numbers[bad]} is out of bounds for sequence {bad} of level {axis - 1} with length "
            f"{offsets[bad + 1] - offsets[bad]}"
        )
    return _picked(where, x, axis, ranges, count, _upper(x, axis - 1)), ranges


@pick_along.infer
def _(x: Spec, index: Any, axis: int) -> Spec:
    _axis("pick_along", axis, x.num_levels)
    levels = x.num_levels - 1
    return Spec(spec_rows(x), x.dtype, levels, LoDTensor if levels else np.ndarray)


@pick_along.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    return _back(saved, d), None


# -- masks -------------------------------------------------------------------------------------------------------------


@op(lod="own")
def select_by_mask(x: Nested, mask: Index) -> Any:
    """Keep the elements for which a mask is true.

    Parameters
    ----------
    x : LoDTensor or nested lists
    mask : array_like of bool, shape (n,) or (n, 1), or LoDTensor of bool
        A vector chooses among the n sequences of the batch. A LoDTensor with the first k levels of x chooses among
        the elements of level k - 1, rows if k is all of them; its sequences stay, with what is left of them.

    Returns
    -------
    LoDTensor
        Of as many levels.

    Raises
    ------
    DTypeError
        If the mask is not of bool.
    ShapeError, LoDError
        If it is not as long, or its structure is not that of x; names the first sequence that differs.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3], [], [4, 5]])
    >>> lodcore.ops.select_by_mask(x, [True, False, True])
    LoDTensor(2 sequences of lengths 2..3, int64: [[1, 2, 3], [4, 5]])
    >>> lodcore.ops.select_by_mask(x, lodcore.greater_than(x, 2))
    LoDTensor(3 sequences of lengths 0..2, int64: [[3], [], [4, 5]])
    """
    return _selected(x, mask)[0]


@select_by_mask.saving
def _selected(x: Any, mask: Any) -> tuple[Any, Array]:
    where = "select_by_mask"
    x = as_nested(f"{where}: x", x)
    axis = mask.lod.num_levels if isinstance(mask, LoDTensor) else 0
    _axis(where, axis, x.lod.num_levels)
    given = mask.values if isinstance(mask, LoDTensor) else np.asarray(mask)
    if given.dtype != np.bool_ and not (given.size == 0 and isinstance(mask, (list, tuple))):
        raise DTypeError(f"{where}: mask: has dtype {given.dtype}; bool is needed")
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    held = np.array(given, np.bool_)  # a copy, which nobody changes between counting and taking
    if held.ndim != 1:
        raise ShapeError(f"{where}: mask: has rows of shape {held.shape[1:]}; one entry an element is needed")
    if axis:
        check_equal(where, x.lod._part(0, axis), mask.lod, "mask")
        offsets = x.lod._view(axis - 1)
    else:
        if len(held) != len(x):
            raise ShapeError(f"{where}: mask: has {len(held)} entries; there are {len(x)} sequences")
        offsets = np.array([0, len(x)])
    bits = held.view(np.uint8)
    new = buffers.new_offsets(len(offsets))
    ranges = buffers.new_int64(kernels.index.true_offsets(offsets, bits, new), 2)
    kernels.index.true_ranges(bits, ranges)
    size = new.item(len(offsets) - 1)
    return _picked(where, x, axis, ranges, size, [*_upper(x, axis - 1), new] if axis else []), ranges


@select_by_mask.infer
def _(x: Spec, mask: Any) -> Spec:
    if isinstance(mask, Spec):
        if mask.dtype != np.bool_ and mask.shape != (0,):
            raise DTypeError(f"select_by_mask: mask: has dtype {mask.dtype}; bool is needed")
        _axis("select_by_mask", mask.num_levels, x.num_levels)
    return Spec(spec_rows(x), x.dtype, x.num_levels, LoDTensor)


@select_by_mask.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    return _back(saved, d), None


# -- numbers -----------------------------------------------------------------------------------------------------------


@op(lod="own")
def take_nested(x: Nested, index: NestedIndex) -> Any:
    """Take elements of every sequence by their numbers in it.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : LoDTensor of integers, or nested lists
        With the first k levels of x, but for the lengths of the last of them: for each sequence of level k - 1 a list
        of numbers of its elements, in any order, with repeats, negative ones from the end.

    Returns
    -------
    LoDTensor
        Of as many levels; sequences of level k - 1 are as long as those of the index.

    Raises
    ------
    IndexError
        Naming the first place whose sequence is too short.
    LoDError
        If the structure of the index is not that of x; names the first sequence that differs.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.take_nested([[1, 2, 3], [], [4, 5]], [[2, 0], [], [-1]])
    LoDTensor(3 sequences of lengths 0..2, int64: [[3, 1], [], [5]])
    """
    return _taken(x, index)[0]


@take_nested.saving
def _taken(x: Any, index: Any, where: str = "take_nested") -> Any:
    x, index = as_nested(f"{where}: x", x), as_nested_index(f"{where}: index", index)
    axis = index.lod.num_levels
    _axis(where, axis, x.lod.num_levels)
    k = axis - 1
    if k:
        check_equal(where, x.lod._part(0, k), index.lod._part(0, k), "index")
    elif len(index) != len(x):
        raise LoDError(f"{where}: index: has {len(index)} sequences; x has {len(x)}")
    if not index.num_rows and index.dtype.kind not in "iu":
        numbers = buffers.new_int64(0)
    else:
        numbers = buffers.as_int64(index.values, f"{where}: index", IndexError)
    offsets, new = x.lod._view(k), index.lod.offsets(k)
    ranges = buffers.new_int64(len(numbers), 2)
    bad = kernels.index.nested_ranges(offsets, new, numbers, ranges)
    if bad >= 0:
        s = int(np.searchsorted(new, bad, "right")) - 1
        raise IndexError(
            f"index {numbers[bad]} is out of bounds for sequence {s} of level {k} with length "
            f"{offsets[s + 1] - offsets[s]}"
        )
    return _picked(where, x, axis, ranges, len(numbers), [*_upper(x, k), new]), ranges


@take_nested.infer
def _(x: Spec, index: Any) -> Spec:
    if isinstance(index, Spec):
        _axis("take_nested", index.num_levels, x.num_levels)
    return Spec(spec_rows(x), x.dtype, x.num_levels, LoDTensor)


@take_nested.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    return _back(saved, d), None


@op(lod="own")
def take_of_each(x: Nested, index: Index, axis: int) -> Any:
    """Take the same elements of every sequence by their numbers in it.

    Parameters
    ----------
    x : LoDTensor or nested lists
    index : array_like of integers, shape (m,)
        In any order, with repeats, negative ones from the end.
    axis : int
        1 .. num_levels: that of the elements of level axis - 1.

    Returns
    -------
    LoDTensor
        Of as many levels; sequences of level axis - 1 have m elements.

    Raises
    ------
    IndexError
        Naming the first sequence that is too short.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.take_of_each([[1, 2, 3], [4, 5]], [-1, 0], 1)
    LoDTensor(2 sequences of length 2, int64: [[3, 1], [5, 4]])
    """
    return _taken_of_each(x, index, axis)[0]


@take_of_each.saving
def _taken_of_each(x: Any, index: Any, axis: int) -> Any:
    where = "take_of_each"
    x = as_nested(f"{where}: x", x)
    lod = x.lod
    axis = _inner_axis(where, axis, lod.num_levels)
    numbers = buffers.as_int64(index, f"{where}: index", IndexError)
    count = lod.num_sequences(axis - 1)
    check_size(where, count, len(numbers), 8)
    offsets = np.arange(count + 1) * len(numbers)
    levels = [*_upper(x, axis - 1), offsets]
    return _taken(x, tensor_core.new_tensor(np.tile(numbers, count), core.make_lod(levels, offsets.item(count))), where)


def _inner_axis(where: str, axis: Any, num_levels: int) -> int:
    found = _axis(where, axis, num_levels)
    if not found:
        raise LoDError(f"{where}: axis: is 0; use gather_sequences for whole sequences")
    return found


@take_of_each.infer
def _(x: Spec, index: Any, axis: int) -> Spec:
    _inner_axis("take_of_each", axis, x.num_levels)
    return Spec(spec_rows(x), x.dtype, x.num_levels, LoDTensor)


@take_of_each.backward
def _(saved: Any, d: Array) -> tuple[Array, None]:
    return _back(saved, d), None
