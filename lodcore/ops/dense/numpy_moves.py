"""Rules of NumPy's functions that move the values of dense arrays: axes, shapes, copies, diagonals, pieces."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from lodcore.errors import ShapeError
from lodcore.operators.arguments import choice_of
from lodcore.operators.operands import Array, unbroadcast
from lodcore.ops.dense.numpy_rules import (
    NumpyRule,
    RuleInputs,
    Shape,
    added,
    along,
    broadcast,
    count_of,
    scattered,
    with_size,
)
from lodcore.tensors.tensor import Spec

__all__ = ["RULES"]

# -- axes and shapes ---------------------------------------------------------------------------------------------------


def _transposed(x: Spec, axes: tuple[int, ...]) -> Spec:
    return Spec(tuple([x.shape[axis] for axis in axes]), x.dtype)


def _vjp_transposed(given: RuleInputs, x: Array, axes: tuple[int, ...]) -> Array:
    return np.transpose(given.d, np.argsort(axes))


def _sizes(shape: Any, given: Any) -> tuple[Any, ...]:
    """Replace None, which stands for the length of that axis of x."""
    axes = [None] * (len(shape) - len(given)) + [*given]
    return tuple([have if size is None else size for size, have in zip(shape, axes, strict=False)])


def _spread(x: Spec, shape: Shape) -> Spec:
    where = "numpy.broadcast_to"
    wanted = _sizes(shape, x.shape)
    if len(shape) < len(x.shape) or any(
        size not in (1, None, have) for size, have in zip(x.shape[::-1], wanted[::-1], strict=False) if have is not None
    ):
        raise ShapeError(f"{where}: shape: is {shape}; x has shape {x.shape}, which does not broadcast to it")
    if any(size is not None and size < 0 for size in shape):
        raise ShapeError(f"{where}: shape: is {shape}; lengths of 0 or more are needed")
    return Spec(wanted, x.dtype)


# -- copies ------------------------------------------------------------------------------------------------------------


def _tiled(x: Spec, reps: tuple[int, ...]) -> Spec:
    shape = (1,) * (len(reps) - len(x.shape)) + x.shape
    return Spec(tuple([count_of(pair) for pair in zip(shape, reps, strict=True)]), x.dtype)


def _vjp_tiled(given: RuleInputs, x: Array, reps: tuple[int, ...]) -> Array:
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    each = [size for pair in zip(reps, shape, strict=True) for size in pair]
    d: Array = given.d.reshape(each).sum(tuple(range(0, len(each), 2)))
    return d.reshape(x.shape)


def _repeat(x: Array, *counts: Array, repeats: Any, axis: int) -> Array:
    return np.repeat(x, counts[0].copy() if counts else repeats, axis)


def _repeated(x: Spec, *counts: Spec, repeats: Any, axis: int) -> Spec:
    size = x.shape[axis]
    if isinstance(repeats, int):
        return Spec(with_size(x.shape, axis, count_of((size, repeats))), x.dtype)
    if counts:
        return Spec(with_size(x.shape, axis, None), x.dtype)
    if size not in (None, len(repeats)) and len(repeats) != 1:
        raise ShapeError(f"numpy.repeat: repeats: are {len(repeats)}; axis {axis} has length {size}")
    total = count_of((size, repeats[0])) if len(repeats) == 1 else sum(repeats)
    return Spec(with_size(x.shape, axis, total), x.dtype)


def _vjp_repeated(given: RuleInputs, x: Array, *counts: Array, repeats: Any, axis: int) -> Any:
    if isinstance(repeats, int):
        front = x.shape[: axis + 1]
        d_x: Array = given.d.reshape(*front, repeats, *x.shape[axis + 1 :]).sum(axis + 1)
    else:
        index = np.repeat(np.arange(x.shape[axis]), counts[0].copy() if counts else repeats)
        d_x = scattered(given.d, index, axis, x.shape)
    return (d_x, None) if counts else d_x


def _rolled(x: Spec, shift: Any, axis: Any) -> Spec:
    return Spec(x.shape, x.dtype)


def _vjp_rolled(given: RuleInputs, x: Array, shift: Any, axis: Any) -> Array:
    return np.roll(given.d, tuple([-one for one in shift]) if isinstance(shift, tuple) else -shift, axis)


# -- padding -----------------------------------------------------------------------------------------------------------

#: The modes that repeat values of x; "constant" puts others around them.
REPEATING = ("edge", "reflect", "symmetric", "wrap")


def _pad(x: Array, widths: Any, mode: str, constants: Any) -> Array:
    if mode == "constant":
        return np.pad(x, widths, mode="constant", constant_values=constants)
    return np.pad(x, widths, mode=mode)  # type: ignore[call-overload,no-any-return]


def _padded(x: Spec, widths: Any, mode: str, constants: Any) -> Spec:
    choice_of("numpy.pad: mode", mode, ("constant", *REPEATING))
    for axis, (size, pair) in enumerate(zip(x.shape, widths, strict=True)):
        if min(pair) < 0:
            raise ValueError(f"numpy.pad: pad_width: is {pair} for axis {axis}; widths of 0 or more are needed")
        if mode != "constant" and size == 0 and max(pair):
            raise ValueError(f"numpy.pad: mode: is {mode!r}; axis {axis} has no values to repeat")
    return Spec(tuple([added(size, *pair) for size, pair in zip(x.shape, widths, strict=True)]), x.dtype)


def _vjp_padded(given: RuleInputs, x: Array, widths: Any, mode: str, constants: Any) -> Array:
    d: Array = given.d
    for axis, (size, (before, behind)) in enumerate(zip(x.shape, widths, strict=True)):
        if mode == "constant":
            d = d[along(axis, slice(before, before + size))]
        elif before or behind:
            index = np.pad(np.arange(size), (before, behind), mode=mode)  # type: ignore[call-overload]
            d = scattered(d, index, axis, (*d.shape[:axis], size, *d.shape[axis + 1 :]))
    return d


# -- diagonals ---------------------------------------------------------------------------------------------------------


def _places(count: int, offset: int) -> tuple[Array, Array]:
    """Return the rows and columns of the entries of a diagonal."""
    places = np.arange(count)
    return places + max(-offset, 0), places + max(offset, 0)


def _diag(x: Spec, k: int) -> Spec:
    size = added(x.shape[0], abs(k))
    return Spec((size, size), x.dtype)


def _diagonal(x: Spec, offset: int, axis1: int, axis2: int) -> Spec:
    if axis1 == axis2 or len(x.shape) < 2:
        raise ShapeError(f"numpy.diagonal: axis1, axis2: are {axis1}, {axis2}; two axes of x are needed")
    rows, columns = added(x.shape[axis1], min(offset, 0)), added(x.shape[axis2], -max(offset, 0))
    size = None if rows is None or columns is None else max(min(rows, columns), 0)
    return Spec((*[one for j, one in enumerate(x.shape) if j not in (axis1, axis2)], size), x.dtype)


def _vjp_diagonal(given: RuleInputs, x: Array, offset: int, axis1: int, axis2: int) -> Array:
    d_x = np.zeros(x.shape, given.d.dtype)
    np.moveaxis(d_x, (axis1, axis2), (-2, -1))[(..., *_places(given.d.shape[-1], offset))] = given.d
    return d_x


def _triangle(x: Spec, k: int) -> Spec:
    if not x.shape:
        raise ShapeError("numpy.tril, triu: m: is a number; matrices are needed")
    return Spec(x.shape if len(x.shape) > 1 else x.shape * 2, x.dtype)


def _vjp_triangle(triangle: Any) -> Any:
    def back_triangle(given: RuleInputs, x: Array, k: int) -> Array:
        d = triangle(given.d, k)
        return d if x.ndim > 1 else d.sum(0)  # type: ignore[no-any-return]  # a vector is each row of a matrix

    return back_triangle


# -- pieces ------------------------------------------------------------------------------------------------------------


def _cut(x: Array, sections: Any, axis: int, equal: bool) -> tuple[Array, ...]:
    return tuple(np.array_split(x, list(sections) if isinstance(sections, tuple) else sections, axis))


def _pieces(x: Spec, sections: Any, axis: int, equal: bool) -> tuple[Spec, ...]:
    size = x.shape[axis]
    count = len(sections) + 1 if isinstance(sections, tuple) else sections
    if size is None:
        return (Spec(with_size(x.shape, axis, None), x.dtype),) * count
    if isinstance(sections, tuple):
        bounds = (0, *sections, size)
        sizes = [len(range(size)[start:stop]) for start, stop in itertools.pairwise(bounds)]
    elif equal and size % count:
        raise ValueError(
            f"numpy.split: indices_or_sections: is {count}; axis {axis} has length {size}, which is not a multiple "
            "of it"
        )
    else:
        sizes = [size // count + (j < size % count) for j in range(count)]
    return tuple([Spec(with_size(x.shape, axis, one), x.dtype) for one in sizes])


def _vjp_pieces(given: RuleInputs, x: Array, sections: Any, axis: int, equal: bool) -> Array:
    d_x = np.zeros(x.shape, x.dtype)
    places = _cut(np.arange(x.shape[axis]), sections, 0, equal)
    for d, index in zip(given.d, places, strict=True):
        if d is not None and len(index):  # pieces may overlap
            d_x[along(axis, slice(index[0], index[-1] + 1))] += d
    return d_x


def _columns(rows: Any, x: Any, sections: Any, axis: int, equal: bool) -> Any:
    """Cut the columns of rows in a loop."""
    if axis != 1:
        return None
    width = rows.vectors(x).value.width
    made = [len(one) for one in _cut(np.arange(width), sections, 0, equal)]
    return rows.parts(x, [0, *itertools.accumulate(made)]) if sum(made) == width else None


def _taken_along_axis(x: Array, indices: Array, axis: int) -> Array:
    return np.take_along_axis(x, indices.copy(), axis)


def _along_axis(x: Spec, indices: Spec, axis: int) -> Spec:
    where = "numpy.take_along_axis"
    if len(x.shape) != len(indices.shape) or indices.dtype.kind not in "iu":
        raise ShapeError(
            f"{where}: indices: have shape {indices.shape}, {indices.dtype}; {len(x.shape)} axes of integers are needed"
        )
    others = [one for j, one in enumerate(x.shape) if j != axis]
    shape = list(broadcast(where, tuple(others), tuple([one for j, one in enumerate(indices.shape) if j != axis])))
    return Spec((*shape[:axis], indices.shape[axis], *shape[axis:]), x.dtype)


def _vjp_along_axis(given: RuleInputs, x: Array, indices: Array, axis: int) -> tuple[Array, None]:
    key: list[Any] = [np.arange(size).reshape(-1, *[1] * (x.ndim - j - 1)) for j, size in enumerate(x.shape)]
    key[axis] = indices.copy()
    for j, size in enumerate(x.shape):
        if j != axis and size == 1:
            key[j] = 0
    d_x = np.zeros(x.shape, x.dtype)
    np.add.at(d_x, tuple(key), given.d)
    return d_x, None


# -- lengths -----------------------------------------------------------------------------------------------------------


def _of_length(x: Array, axis: int, least: int, exactly: bool, where: str) -> Array:
    """Return x itself: the Spec rule, which is asked before, knows the length when it runs."""
    return x


def _length(x: Spec, axis: int, least: int, exactly: bool, where: str) -> Spec:
    size = x.shape[axis]
    if size is not None and (size != least if exactly else size < least):
        raise ShapeError(f"{where}: has length {size} on axis {axis}; {least}{'' if exactly else ' or more'} is needed")
    return Spec((*x.shape[:axis], least if exactly else size, *x.shape[axis + 1 :]), x.dtype)


# -- the table ---------------------------------------------------------------------------------------------------------

#: The rules, by the names of the functions in NumPy. Options are complete, axes counted from the first.
RULES = {
    "transpose": NumpyRule(np.transpose, _transposed, _vjp_transposed),
    "broadcast_to": NumpyRule(
        lambda x, shape: np.broadcast_to(x, _sizes(shape, x.shape)),
        _spread,
        lambda given, x, shape: unbroadcast(given.d, x.shape),
    ),
    "tile": NumpyRule(np.tile, _tiled, _vjp_tiled),
    "repeat": NumpyRule(_repeat, _repeated, _vjp_repeated),
    "roll": NumpyRule(np.roll, _rolled, _vjp_rolled),
    "pad": NumpyRule(_pad, _padded, _vjp_padded),
    "diag": NumpyRule(np.diag, _diag, lambda given, x, k: np.diagonal(given.d, k)),
    "diagonal": NumpyRule(np.diagonal, _diagonal, _vjp_diagonal),
    "tril": NumpyRule(np.tril, _triangle, _vjp_triangle(np.tril)),
    "triu": NumpyRule(np.triu, _triangle, _vjp_triangle(np.triu)),
    "split": NumpyRule(_cut, _pieces, _vjp_pieces, _columns),
    "take_along_axis": NumpyRule(_taken_along_axis, _along_axis, _vjp_along_axis),
    # of its own: the check of a length known only at run time
    "of_length": NumpyRule(_of_length, _length, lambda given, x, axis, least, exactly, where: given.d),
}
