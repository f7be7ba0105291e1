"""NumPy's functions of shape and arrangement on LoDTensors and Variables, composed of operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import as_size, check_size
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.numpy_api.protocols import FUNCTIONS, axis_of, concatenate, refuse_symbols, stands_for
from lodcore.operators.roles import as_batches
from lodcore.ops.move.position import by_position
from lodcore.ops.move.values import reshape_rows, transpose_rows
from lodcore.ops.reduce.axes import tensor_of
from lodcore.ops.reduce.reduce_values import axes_of
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["FUNCTIONS"]

ALL = slice(None)


def _levels(x: Any) -> int:
    return int(getattr(x, "num_levels", 0))


def _of_rows(x: Any, at: int, index: Any) -> Any:
    """Index an axis of rows, counted from the first axis of the ragged shape."""
    return ops.index_values(x, [*[ALL] * (at - _levels(x)), index])


def _one_batch(x: Any) -> Any:
    """Return all sequences as the elements of one, so that operations on its elements are along axis 0."""
    return ops.insert_level(x, 0, whole=True)


def _flat(x: Any) -> Any:
    """Return all values."""
    flat = ops.rows(x)
    while flat.ndim > 1:
        flat = ops.rows(ops.rows_to_level(flat))
    return flat


# -- positions ---------------------------------------------------------------------------------------------------------


@stands_for(np.argwhere)
def argwhere(a: Any) -> Any:
    """Return the positions of nonzero values, as `lodcore.ops.argwhere` does."""
    return ops.argwhere(a)


@stands_for(np.nonzero)
def nonzero(a: Any) -> Any:
    """Return the positions of nonzero values.

    Returns
    -------
    tuple of ndarray
        One vector of int64 per axis of the ragged shape.
    """
    x = tensor_of("nonzero", a)
    places = ops.argwhere(x)
    return tuple(ops.index_values(places, [ALL, j]) for j in range(x.ndim))


# -- joining, repeating, rolling ---------------------------------------------------------------------------------------


@stands_for(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """Insert axes of length 1; among axes of levels, insert levels whose sequences have one element."""
    x = tensor_of("expand_dims", a)
    for at in axes_of("expand_dims", axis, x.ndim + (len(axis) if isinstance(axis, tuple) else 1)):
        levels = getattr(x, "num_levels", 0)
        if at <= levels:
            x = ops.insert_level(x, max(at - 1, 0), at == 0)
        else:
            x = ops.index_values(x, [*[slice(None)] * (at - levels), None])
    return x


@stands_for(np.stack)
def stack(arrays: Any, axis: Any = 0, out: None = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """Join tensors along a new axis, which is a level if it is inserted among the axes of levels."""
    if out is not None:
        raise TypeError("numpy.stack: out: is not supported for sequences")
    xs = [x if isinstance(x, (list, tuple)) else tensor_of("stack", x) for x in arrays]
    xs = as_batches("stack: arrays", xs)
    at = axis_of("stack", axis, xs[0].ndim + 1)
    return concatenate([expand_dims(x, at) for x in xs], at, dtype=dtype, casting=casting)


@stands_for(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """Join copies of a tensor along its axes."""
    x = tensor_of("tile", A)
    given = tuple(np.atleast_1d(reps)) if isinstance(reps, (list, tuple, np.ndarray)) else (reps,)
    numbers = [number for number in map(as_size, given) if number is not None]
    if len(given) > x.ndim or len(numbers) < len(given):
        raise ShapeError(f"tile: reps: is {reps!r}; up to {x.ndim} numbers of 0 or more are needed")
    made = x
    for at, times in enumerate(numbers, x.ndim - len(numbers)):
        made = repeat_whole(made, at, times)
    return made.copy() if made is x else made


def repeat_whole(x: Any, at: int, times: int) -> Any:
    """Join copies of a tensor along an axis."""
    if times == 1:
        return x
    if times == 0:
        return x[(*[ALL] * at, slice(0, 0))]
    check_size("tile", times, 8 if isinstance(x, Symbol) else max(x.values.nbytes, 8))
    return concatenate([x] * times, at)


@stands_for(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeat each element along an axis.

    Parameters
    ----------
    repeats : int, or array_like or LoDTensor of int
        How often: one number for all elements, or one for each of them.
    axis : int, optional
        Axis 0 repeats sequences, the axis of a level the elements of each of its sequences, one of a row its entries.
        By default each value is repeated.

    Returns
    -------
    LoDTensor, or ndarray without an axis

    Raises
    ------
    ShapeError, DTypeError, ValueError
        If the axis does not exist, or the numbers are not integers of 0 or more, one or as many as there are elements.
    """
    x = tensor_of("repeat", a)
    if axis is None:
        return ops.rows(ops.sequence_repeat(_one_batch(_flat(x)), repeats))
    return _moved("repeat: repeats", x, repeats, axis_of("repeat", axis, x.ndim), ops.sequence_repeat, np.repeat)


def _moved(where: str, x: Any, by: Any, at: int, of_sequences: Any, of_rows: Any) -> Any:
    """Repeat or roll along an axis: of the batch, of levels, or of rows; `where` names the numbers."""
    if at == 0:
        return ops.drop_level(of_sequences(_one_batch(x), by, 0), 0)
    if at <= _levels(x):
        return of_sequences(x, by, at - 1)
    size = x.shape[at]
    if size is None:
        raise ShapeError(f"numpy.{where.partition(':')[0]}: axis: is {at}, whose length is known only at run time")
    numbers = np.asarray(by) if isinstance(by, (int, np.integer, list, tuple, np.ndarray)) else np.empty(0)
    if numbers.dtype.kind not in "iu" or numbers.ndim > 1 or numbers.size not in (1, size):
        raise DTypeError(f"numpy.{where}: is {by!r}; an integer, or one for each of {size} places, is needed")
    return _of_rows(x, at, of_rows(np.arange(size), numbers))


@stands_for(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift elements cyclically along axes."""
    x = tensor_of("roll", a)
    if axis is None:
        if x.ndim > _levels(x) + 1:
            raise TypeError("numpy.roll: axis: is None; it is needed where rows have axes")
        return ops.with_values(x, ops.rows(ops.sequence_roll(_one_batch(ops.rows(x)), shift)))
    if isinstance(shift, (Symbol, LoDTensor)) and isinstance(axis, int):  # known to a run, or one for each sequence
        return _moved("roll: shift", x, shift, axis_of("roll", axis, x.ndim), ops.sequence_roll, np.roll)
    shifts, axes = np.broadcast_arrays(shift, axis)
    for by, one in zip(shifts.ravel().tolist(), axes.ravel().tolist(), strict=True):
        x = _moved("roll: shift", x, by, axis_of("roll", one, x.ndim), ops.sequence_roll, np.roll)
    return x


# -- axes --------------------------------------------------------------------------------------------------------------


@stands_for(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Remove axes of length 1.

    Parameters
    ----------
    axis : int or tuple of int, optional
        By default all axes of a row that have length 1. The axis of a level is removed, with this level, if all of its
        sequences have one element; axis 0 if there is one sequence (not recorded).

    Returns
    -------
    LoDTensor, or ndarray if no level is left

    Raises
    ------
    ShapeError, DTypeError
        If the axis does not exist, or has another length.
    """
    x = tensor_of("squeeze", a)
    levels = _levels(x)
    if axis is None:
        found: tuple[int, ...] = tuple(at for at in range(levels + 1, x.ndim) if x.shape[at] == 1)
    else:
        found = axes_of("squeeze", axis, x.ndim)
    for at in found[::-1]:
        if at > _levels(x) or not _levels(x):  # without its level, a sequence is an axis of rows
            if x.shape[at] not in (1, None):
                raise ShapeError(f"squeeze: axis: is {at}, of length {x.shape[at]}; length 1 is needed")
            kept = x.shape[_levels(x) + 1 : at] + x.shape[at + 1 :]
            if x.shape[at] is None and None in kept:
                raise ShapeError(f"squeeze: axis: is {axis}; the lengths of two axes are known only at run time")
            x = _of_rows(x, at, 0) if x.shape[at] == 1 else reshape_rows(x, kept)
            continue
        refuse_symbols("squeeze", (x,))
        lengths = np.array([len(x)]) if at == 0 else x.lod.lengths(at - 1)
        if (lengths != 1).any():
            s = int(np.argmax(lengths != 1))
            raise ShapeError(f"squeeze: axis: is {at}, along which sequence {s} has length {lengths[s]}; 1 is needed")
        x = ops.drop_level(x, max(at - 1, 0))
    return x


@stands_for(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    """Permute axes of rows, and axes of levels if their sequences have equal lengths and are not empty."""
    x = tensor_of("transpose", a)
    given = range(x.ndim)[::-1] if axes is None else axes if isinstance(axes, (list, tuple)) else (axes,)
    order = [axis_of("transpose", one, x.ndim) for one in given]
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(f"transpose: axes: are {axes}; each of {x.ndim} axes is needed once")
    levels = _levels(x)
    deepest = max([-1, *(at for at, one in enumerate(order) if at <= levels and one != at)])
    reach = max([levels, *(order[at] for at in range(deepest + 1))])
    if reach > levels:  # axes of rows that are moved among those of levels become levels
        return transpose(_rows_as_levels(x, reach - levels), order)
    place = list(range(levels + 1))
    for at in range(levels + 1):  # axes are moved to their positions one by one
        for swap in range(place.index(order[at]), at, -1):
            x = _swapped(x, swap - 1)
            place[swap - 1], place[swap] = place[swap], place[swap - 1]
    back = [one - levels for one in order[levels + 1 :]]
    return x if back == sorted(back) else transpose_rows(x, tuple(back))


def _rows_as_levels(x: Any, count: int) -> Any:
    """Convert the first axes of rows to levels."""
    for _ in range(count):
        x = ops.rows_to_level(x)
    return x


def _swapped(x: Any, at: int) -> Any:
    """Swap an axis with the next one; sequences must be equally long and not empty."""
    refuse_symbols("transpose", (x,))
    lengths = x.lod.lengths(at)
    ends = x.lod.offsets(at - 1) if at else np.array([0, len(x)])
    first = lengths[np.minimum(np.repeat(ends[:-1], np.diff(ends)), max(len(lengths) - 1, 0))]
    wrong = (lengths != first) | (lengths == 0)
    hollow = np.diff(ends) == 0
    if wrong.any() or hollow.any():
        s = int(np.argmax(wrong)) if wrong.any() else int(np.argmax(hollow))
        found = f"length {lengths[s]}" if wrong.any() else "no element"
        level = at if wrong.any() else at - 1
        raise LoDError(
            f"transpose: axes: sequence {s} of level {level} has {found}; axes {at} and {at + 1} can be exchanged only "
            "where sequences are equally long and not empty"
        )
    return by_position(x, at)


@stands_for(np.swapaxes)
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    """Swap two axes: of rows, or of levels if their sequences have equal lengths and are not empty.

    Parameters
    ----------
    axis1, axis2 : int

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError
        If sequences of a level that is moved have different lengths, or are empty.
    ShapeError, DTypeError
        If an axis does not exist.
    """
    x = tensor_of("swapaxes", a)
    order = list(range(x.ndim))
    one, other = axis_of("swapaxes", axis1, x.ndim), axis_of("swapaxes", axis2, x.ndim)
    order[one], order[other] = other, one
    return transpose(x, order)


@stands_for(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move axes to other positions, as `transpose` does."""
    x = tensor_of("moveaxis", a)
    moved = [axis_of("moveaxis", one, x.ndim) for one in np.ravel(source).tolist()]
    targets = [axis_of("moveaxis", one, x.ndim) for one in np.ravel(destination).tolist()]
    if len(moved) != len(targets) or len(set(moved)) < len(moved) or len(set(targets)) < len(targets):
        raise ShapeError(
            f"moveaxis: source, destination: are {source}, {destination}; as many different axes are needed"
        )
    order = [one for one in range(x.ndim) if one not in moved]
    for target, one in sorted(zip(targets, moved, strict=True)):
        order.insert(target, one)
    return transpose(x, order)


def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes, as `transpose` does."""
    return swapaxes(x, -1, -2)


if hasattr(np, "matrix_transpose"):  # NumPy 2
    stands_for(np.matrix_transpose)(matrix_transpose)


@stands_for(np.reshape)
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, copy: Any = None) -> Any:
    """Reshape rows; axes of levels are kept and given as None or -1. A single -1 returns all values."""
    x = tensor_of("reshape", a)
    if order != "C":
        raise ValueError(f"reshape: order: is {order!r}; 'C' is supported for sequences")
    given = tuple(shape) if isinstance(shape, (list, tuple, np.ndarray)) else (shape,)
    levels, known = _levels(x), [None if isinstance(size, Symbol) else size for size in given]
    if known == [-1]:
        return _flat(x)
    if not levels and len([size for size in given if size is None]) + known.count(-1) < 2:
        return ops.reshape(x, [-1 if size is None else size for size in given])
    for at, size in enumerate(given[: levels + 1]):
        if isinstance(size, Symbol) or (size not in (None, -1) and (at or size != x.shape[0])):
            raise ShapeError(
                f"reshape: shape: is {given}; the axes of levels, {x.shape[: levels + 1]}, stay, or all values are "
                "listed with -1"
            )
    if len(given) < levels + 1:
        raise ShapeError(f"reshape: shape: is {given}; x has {levels + 1} axes of levels, which stay")
    return reshape_rows(x, given[levels + 1 :])


# -- broadcasting ------------------------------------------------------------------------------------------------------


@stands_for(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """Broadcast operands to their common shape."""
    xs = [tensor_of("broadcast_arrays", x) for x in args]
    return tuple(_spread_over(x, [y for y in xs if y is not x]) for x in xs)


def _spread_over(x: Any, others: list[Any]) -> Any:
    for other in others:
        x = ops.spread(x, other)
    return x


@stands_for(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """Broadcast rows along their axes of length 1, keeping axes of levels; `lodcore.ops.spread` accepts a structure."""
    x = tensor_of("broadcast_to", array)
    levels = _levels(x)
    given = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    if len(given) != x.ndim or any(size not in (None, -1) for size in given[1 : levels + 1]):
        raise ShapeError(f"broadcast_to: shape: is {given}; x has {x.shape}, whose axes of levels stay")
    if given[0] not in (None, -1, x.shape[0]):
        raise ShapeError(f"broadcast_to: shape: is {given}; x has {x.shape[0]} sequences")
    return ops.spread(x, np.zeros(given[levels + 1 :], bool)) if given[levels + 1 :] else ops.cast(x, x.dtype)


# -- reductions and products -------------------------------------------------------------------------------------------


@stands_for(np.ptp)
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """Return the maximum minus the minimum.

    Parameters
    ----------
    axis, keepdims
        As in `max`.
    out : None
        Not supported.

    Returns
    -------
    LoDTensor, ndarray or number

    Raises
    ------
    ValueError, ShapeError, DTypeError
        If there are no values, the axis does not exist, or the values have no differences.
    """
    x = tensor_of("ptp", a)
    return ops.minus(ops.max(x, axis, out, keepdims), ops.min(x, axis, out, keepdims))


@stands_for(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """Average with weights, as `lodcore.average` does."""
    return ops.average(a, axis, weights, returned, keepdims=keepdims is not np._NoValue and bool(keepdims))


if hasattr(np.linalg, "vecdot"):  # NumPy 2
    stands_for(np.linalg.vecdot)(ops.vecdot)


@stands_for(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Contract the last axis of a with the first axis of rows of b, by `matmul` or `sequence_matmul`."""
    if axes != 1:
        raise TypeError(f"numpy.tensordot: axes: is {axes!r}; 1 is supported for sequences")
    return ops.sequence_matmul(a, b) if _levels(b) else ops.matmul(a, b)
