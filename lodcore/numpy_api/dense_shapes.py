"""NumPy's functions of axes and shapes on dense Variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.memory import integer
from lodcore.errors import ShapeError
from lodcore.numpy_api.dense import ALL, axis_in, call, dense_of, flat, integers, of_length, on_dense
from lodcore.operators.arguments import choice_of
from lodcore.ops.move.values import reshape_rows

__all__ = ["diagonal", "ravel", "reshape", "squeeze", "swapaxes", "trace", "transpose"]

# -- axes --------------------------------------------------------------------------------------------------------------


def _in_order(x: Any, order: list[int]) -> Any:
    """Permute axes."""
    return x if order == sorted(order) else call([x], "transpose", axes=tuple(order))


def _reversed(x: Any, first: int) -> Any:
    """Reverse the axes from one on."""
    return _in_order(x, [*range(first), *range(first, x.ndim)[::-1]])


@on_dense(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    """Permute axes; by default, reverse them."""
    x = dense_of("transpose", a)
    given = range(x.ndim)[::-1] if axes is None else axes if isinstance(axes, (list, tuple)) else (axes,)
    order = [axis_in("transpose", one, x.ndim, "axes") for one in given]
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(f"numpy.transpose: axes: are {axes}; each of {x.ndim} axes is needed once")
    return _in_order(x, order)


@on_dense(np.swapaxes)
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Any:
    """Swap two axes."""
    x = dense_of("swapaxes", a)
    order = list(range(x.ndim))
    one, other = (axis_in("swapaxes", axis, x.ndim, f"axis{j}") for j, axis in ((1, axis1), (2, axis2)))
    order[one], order[other] = other, one
    return _in_order(x, order)


@on_dense(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes."""
    return swapaxes(x, -1, -2)


@on_dense(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move axes to other positions."""
    x = dense_of("moveaxis", a)
    moved = [axis_in("moveaxis", one, x.ndim, "source") for one in np.ravel(source).tolist()]
    targets = [axis_in("moveaxis", one, x.ndim, "destination") for one in np.ravel(destination).tolist()]
    if len(moved) != len(targets) or len(set(moved)) < len(moved) or len(set(targets)) < len(targets):
        raise ShapeError(
            f"numpy.moveaxis: source, destination: are {source}, {destination}; as many different axes are needed"
        )
    order = [one for one in range(x.ndim) if one not in moved]
    for target, one in sorted(zip(targets, moved, strict=True)):
        order.insert(target, one)
    return _in_order(x, order)


@on_dense(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """Move an axis backwards, before another one."""
    x = dense_of("rollaxis", a)
    at, before = axis_in("rollaxis", axis, x.ndim), integers("rollaxis", "start", start)
    before += x.ndim if before < 0 else 0
    if not 0 <= before <= x.ndim:
        raise ShapeError(f"numpy.rollaxis: start: is {start}; x has {x.ndim} axes")
    return moveaxis(x, at, before - (at < before))


@on_dense(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """Insert axes of length 1."""
    x = dense_of("expand_dims", a)
    given = axis if isinstance(axis, (list, tuple)) else (axis,)
    places = [axis_in("expand_dims", one, x.ndim + len(given)) for one in given]
    if len(set(places)) < len(places):
        raise ShapeError(f"numpy.expand_dims: axis: is {axis}; different axes are needed")
    return ops.index_values(x, [None if at in places else ALL for at in range(x.ndim + len(given))])


@on_dense(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Remove axes of length 1; an axis whose length is known only at run time is removed if it is named."""
    x = dense_of("squeeze", a)
    if axis is None:
        if None in x.shape:
            raise ShapeError(
                f"numpy.squeeze: x: has shape {x.shape}; a length is known only at run time: name the axes to remove"
            )
        places = [at for at, size in enumerate(x.shape) if size == 1]
    else:
        places = [axis_in("squeeze", one, x.ndim) for one in (axis if isinstance(axis, tuple) else (axis,))]
    for at in places:
        if x.shape[at] not in (1, None):
            raise ShapeError(f"numpy.squeeze: axis: is {at}, of length {x.shape[at]}; length 1 is needed")
        x = of_length("numpy.squeeze: x", x, at, 1, True)
    return ops.index_values(x, [0 if at in places else ALL for at in range(x.ndim)])


@on_dense(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """Reverse axes, by default all."""
    x = dense_of("flip", m)
    given = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    places = [axis_in("flip", one, x.ndim) for one in given]
    return ops.index_values(x, [slice(None, None, -1) if at in places else ALL for at in range(x.ndim)])


@on_dense(np.flipud)
def flipud(m: Any) -> Any:
    """Reverse the first axis."""
    return flip(m, 0)


@on_dense(np.fliplr)
def fliplr(m: Any) -> Any:
    """Reverse the second axis."""
    return flip(m, 1)


@on_dense(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotate by 90 degrees in the plane of two axes, k times."""
    x = dense_of("rot90", m)
    one, other = (axis_in("rot90", axis, x.ndim, "axes") for axis in axes)
    if one == other:
        raise ShapeError(f"numpy.rot90: axes: are {axes}; different axes are needed")
    turns = integer("numpy.rot90: k", k) % 4
    if turns == 2:
        return flip(x, (one, other))
    if turns == 1:
        x = flip(x, other)
    x = swapaxes(x, one, other) if turns else x
    return flip(x, other) if turns == 3 else x


# -- shapes ------------------------------------------------------------------------------------------------------------


@on_dense(np.reshape)
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    """Give the values another shape; None keeps the length of the first axis, even where it is not known."""
    x = dense_of("reshape", a)
    given = shape if newshape is None else newshape
    sizes = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given]
    by_columns, keeps = choice_of("numpy.reshape: order", order, ("C", "F")) == "F", sizes[:1] == [None]
    if None in sizes[1:] or (keeps and not x.ndim):
        raise ShapeError(
            f"numpy.reshape: shape: is {tuple(sizes)}; None is valid for the first axis, whose length stays"
        )
    if by_columns:  # the reversed shape of the transposed array, or of its transposed rows
        given = [None, *sizes[:0:-1]] if keeps else sizes[::-1]
        return _reversed(reshape(_reversed(x, keeps), given), keeps)
    return reshape_rows(x, tuple(sizes[1:])) if keeps else ops.reshape(x, sizes)


@on_dense(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """Return all values in one axis."""
    x = dense_of("ravel", a)
    return flat("ravel", transpose(x) if choice_of("numpy.ravel: order", order, ("C", "F")) == "F" else x)


def _at_least(name: str, count: int) -> Any:
    def at_least(*arys: Any) -> Any:
        """Insert axes of length 1 until there are as many as needed."""
        found = []
        for one in arys:
            x = dense_of(name, one)
            missing = (ALL,) * x.ndim if x.ndim >= count else _missing_axes(x.ndim, count)
            found.append(x if len(missing) == x.ndim else ops.index_values(x, list(missing)))
        return found[0] if len(found) == 1 else tuple(found)

    return at_least


def _missing_axes(ndim: int, count: int) -> tuple[Any, ...]:
    """Return the key that inserts axes where `atleast_2d` and `atleast_3d` do."""
    if ndim == 0:
        return (None,) * count
    return (None, ALL) if count == 2 else (None, ALL, None) if ndim == 1 else (ALL, ALL, None)


for _count in (1, 2, 3):
    on_dense(getattr(np, f"atleast_{_count}d"))(_at_least(f"atleast_{_count}d", _count))


@on_dense(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """Broadcast to a shape; None keeps the length of an axis of the array that is known only at run time."""
    x = dense_of("broadcast_to", array)
    sizes = shape if isinstance(shape, (list, tuple)) else (shape,)
    taken = tuple([None if size is None else integers("broadcast_to", "shape", size) for size in sizes])
    axes = [-1] * (len(taken) - x.ndim) + [*x.shape]
    for at, (size, have) in enumerate(zip(taken, axes, strict=False)):
        if size is None and have is not None:
            raise ShapeError(
                f"numpy.broadcast_to: shape: is {taken}; the length of axis {at} is known only at run time, and x has "
                f"shape {x.shape}"
            )
    return call([x], "broadcast_to", shape=taken)


# -- copies ------------------------------------------------------------------------------------------------------------


@on_dense(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """Join copies along axes."""
    x, given = dense_of("tile", A), integers("tile", "reps", reps)
    each = given if isinstance(given, tuple) else (given,)
    if any(one < 0 for one in each):
        raise ValueError(f"numpy.tile: reps: is {reps!r}; numbers of 0 or more are needed")
    return call([x], "tile", reps=(1,) * (x.ndim - len(each)) + each)


@on_dense(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Repeat each entry along an axis; by default, each value."""
    x = flat("repeat", a) if axis is None else dense_of("repeat", a)
    at = 0 if axis is None else axis_in("repeat", axis, x.ndim)
    if hasattr(repeats, "has_value"):  # numbers that are recorded, too
        return call([x, repeats], "repeat", repeats=None, axis=at)
    given = integers("repeat", "repeats", repeats)
    if min(given if isinstance(given, tuple) else (given,), default=0) < 0:
        raise ValueError(f"numpy.repeat: repeats: is {repeats!r}; numbers of 0 or more are needed")
    return call([x], "repeat", repeats=given, axis=at)


@on_dense(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift values cyclically along axes; by default, all of them."""
    x, by = dense_of("roll", a), integers("roll", "shift", shift)
    if axis is None:
        return call([x], "roll", shift=by, axis=None)
    places = axis if isinstance(axis, (list, tuple)) else (axis,)
    axes = tuple([axis_in("roll", one, x.ndim) for one in places])
    shifts, axes = (tuple(one.tolist()) for one in np.broadcast_arrays(np.atleast_1d(by), axes))
    return call([x], "roll", shift=shifts, axis=axes)


@on_dense(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Put values around an array: constants, or those of the array itself."""
    x = dense_of("pad", array)
    constants = kwargs.pop("constant_values", 0)
    if kwargs.pop("reflect_type", "even") != "even" or kwargs:
        raise TypeError(f"numpy.pad: {', '.join(kwargs) or 'reflect_type'}: is not supported where it is recorded")
    if isinstance(pad_width, dict):
        pairs: Any = [(0, 0)] * x.ndim
        for axis, width in pad_width.items():
            pairs[axis_in("pad", axis, x.ndim, "pad_width")] = np.broadcast_to(width, 2)
        pad_width = pairs
    try:
        widths = np.broadcast_to(pad_width, (x.ndim, 2))
        constants = np.broadcast_to(constants, (x.ndim, 2)).tolist() if np.ndim(constants) else constants
    except ValueError:
        raise ShapeError(f"numpy.pad: pad_width: is {pad_width}; a pair for each of {x.ndim} axes is needed") from None
    if widths.dtype.kind not in "iu":
        raise TypeError(f"numpy.pad: pad_width: is {pad_width!r}; integers are needed")
    return call([x], "pad", widths=tuple(map(tuple, widths.tolist())), mode=mode, constants=constants)


# -- diagonals ---------------------------------------------------------------------------------------------------------


@on_dense(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return diagonals."""
    x = dense_of("diagonal", a)
    if x.ndim < 2:
        raise ShapeError(f"numpy.diagonal: a: has shape {x.shape}; two axes are needed")
    one, other = (axis_in("diagonal", axis, x.ndim, f"axis{j}") for j, axis in ((1, axis1), (2, axis2)))
    return call([x], "diagonal", offset=integer("numpy.diagonal: offset", offset), axis1=one, axis2=other)


@on_dense(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Any:
    """Add up diagonals."""
    return ops.sum(diagonal(a, offset, axis1, axis2), -1, dtype)


@on_dense(np.linalg.diagonal)
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of matrices, the last two axes."""
    return diagonal(x, offset, -2, -1)


@on_dense(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Add up the diagonals of matrices, the last two axes."""
    return trace(x, offset, -2, -1, dtype)


@on_dense(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal of a matrix, or the matrix with a diagonal."""
    x = dense_of("diag", v)
    if x.ndim not in (1, 2):
        raise ShapeError(f"numpy.diag: v: has shape {x.shape}; a vector or a matrix is needed")
    return diagonal(x, k) if x.ndim == 2 else call([x], "diag", k=integer("numpy.diag: k", k))


@on_dense(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """Return the matrix whose diagonal has all values."""
    return diag(flat("diagflat", v), k)


@on_dense(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    """Return the lower triangles of matrices."""
    return _triangle("tril", m, k)


@on_dense(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    """Return the upper triangles of matrices."""
    return _triangle("triu", m, k)


def _triangle(name: str, m: Any, k: int) -> Any:
    return call([dense_of(name, m)], name, k=integer(f"numpy.{name}: k", k))
