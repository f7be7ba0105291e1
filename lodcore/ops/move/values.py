"""Transposing and reshaping rows, positions of nonzero values, bitwise reductions, and dot products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import integer
from lodcore.base.naming import named
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import choice_of, dense_of, level_of, list_of, single_of
from lodcore.operators.elementwise import elementwise_operator
from lodcore.operators.lod_rules import before, no_lod
from lodcore.operators.operands import Array, rows_of, with_levels
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Keys, Nested
from lodcore.ops.elementwise.convert import cast, rows
from lodcore.ops.elementwise.math import elementwise, mul
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.arrange import rows_to_level
from lodcore.ops.move.checked import check, rule
from lodcore.ops.move.position import insert_level
from lodcore.ops.reduce import axes as reductions
from lodcore.ops.reduce.axes import tensor_of
from lodcore.ops.reduce.reduce_values import axes_of, moved_behind
from lodcore.tensors import lod_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = [
    "argwhere",
    "bitwise_reduce",
    "reshape",
    "reshape_rows",
    "sequence_bitwise",
    "spread",
    "transpose_rows",
    "vecdot",
]

Shape = tuple[int | None, ...]


@operator(x=Dense)
def transpose_rows(x: Any, axes: Any) -> Any:
    """Permute the axes of rows.

    Parameters
    ----------
    x : LoDTensor or array_like
    axes : tuple of int
        The axes of the values without the first, 1 .. ndim - 1, in their new order; the first, that of rows, stays.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    ShapeError, DTypeError
        If axes are not a permutation of these.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths(np.zeros((3, 4, 5)), [2, 1])
    >>> lodcore.ops.transpose_rows(x, (2, 1)).shape
    (2, None, 5, 4)
    """
    values = dense_of("transpose_rows: x", x, levels=True)
    return np.ascontiguousarray(values.transpose(0, *_order(axes, values.ndim)))


def _order(axes: Any, ndim: int) -> tuple[int, ...]:
    """Return the checked permutation of the axes of rows."""
    found = tuple(
        integer(f"transpose_rows: axes[{j}]", one) for j, one in enumerate(list_of("transpose_rows: axes", axes))
    )
    if sorted(found) != list(range(1, ndim)):
        raise ShapeError(f"transpose_rows: axes: are {found}; each of 1 .. {ndim - 1} is needed once")
    return found


@transpose_rows.define_infer
def _(x: Spec, axes: Any) -> Spec:
    return Spec((x.shape[0], *[x.shape[axis] for axis in _order(axes, len(x.shape))]), x.dtype)


@transpose_rows.define_vjp
def _(d: Array, axes: Any) -> Array:
    return d.transpose(0, *np.argsort([0, *axes])[1:])


@operator(x=Dense)
def reshape_rows(x: Any, shape: Any) -> Any:
    """Reshape rows.

    Parameters
    ----------
    x : LoDTensor or array_like
    shape : tuple of int
        The new shape of a row, with as many values; one length may be -1.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    ShapeError, DTypeError
        If the numbers of values of a row differ.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths(np.zeros((3, 6)), [2, 1])
    >>> lodcore.ops.reshape_rows(x, (2, -1)).shape
    (2, None, 2, 3)
    """
    values = dense_of("reshape_rows: x", x, levels=True)
    if not values.ndim:
        raise ShapeError("reshape_rows: x: is a number; rows are needed")
    return np.ascontiguousarray(values).reshape(len(values), *_row_shape(shape, values.shape[1:]))


def _row_shape(shape: Any, row_shape: Shape) -> Shape:
    """Return the shape of a row, with -1 replaced."""
    sizes = [integer(f"reshape_rows: shape[{j}]", one) for j, one in enumerate(list_of("reshape_rows: shape", shape))]
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise ShapeError(f"reshape_rows: shape: is {tuple(sizes)}; lengths of 0 or more, and -1 once, are valid")
    if None in row_shape:
        return tuple(None if size == -1 else size for size in sizes)
    count = math.prod(size for size in row_shape if size is not None)
    known = math.prod(size for size in sizes if size != -1)
    if -1 in sizes and known and count % known == 0:
        sizes[sizes.index(-1)] = count // known
    if -1 in sizes or math.prod(sizes) != count:
        raise ShapeError(f"reshape_rows: shape: is {tuple(sizes)}; a row has shape {row_shape}, {count} values")
    return tuple(sizes)


@reshape_rows.define_infer
def _(x: Spec, shape: Any) -> Spec:
    if not x.shape:
        raise ShapeError("reshape_rows: x: is a number; rows are needed")
    return Spec((x.shape[0], *_row_shape(shape, x.shape[1:])), x.dtype)


@reshape_rows.define_vjp
def _(d: Array, x: Any) -> Array:
    return d.reshape(np.shape(rows_of(x)))


@operator(x=Dense, shape=Keys, lod_rule=no_lod)
def reshape(x: Any, shape: Any) -> Array:
    """Reshape an array, even to lengths that are known only at run time.

    Parameters
    ----------
    x : array_like
    shape : list of int
        The new shape, with as many values; one length may be -1. Each may be a Variable, such as `num_rows(v)`.

    Returns
    -------
    ndarray

    Raises
    ------
    ShapeError, DTypeError, LoDError
        If the numbers of values differ, a length is not an integer, or x has a level: `reshape_rows` keeps it.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.ops.reshape(np.arange(6), [lodcore.num_rows([[1, 2], [3]]), -1])
    array([[0, 1],
           [2, 3],
           [4, 5]])
    """
    values = dense_of("reshape: x", x)
    sizes = [single_of(f"reshape: shape[{j}]", one) for j, one in enumerate(list_of("reshape: shape", shape))]
    return np.ascontiguousarray(values).reshape(_whole_shape(tuple(sizes), values.shape))


def _whole_shape(sizes: Shape, shape: Shape) -> Shape:
    """Return a new shape with -1 replaced where all lengths are known; unknown ones are None."""
    known = [size for size in sizes if size is not None]
    if known.count(-1) > 1 or any(size < -1 for size in known):
        raise ShapeError(f"reshape: shape: is {sizes}; lengths of 0 or more, and -1 once, are valid")
    if None in sizes or None in shape:
        return tuple([None if size == -1 else size for size in sizes])
    count, given = math.prod(shape), math.prod([size for size in known if size != -1])  # type: ignore[arg-type]
    if (count % given if given else count) if -1 in sizes else count != given:
        raise ShapeError(f"reshape: shape: is {sizes}; x has shape {shape}, {count} values")
    return tuple([count // max(given, 1) if size == -1 else size for size in known])


@reshape.define_infer
def _(x: Spec, shape: Any) -> Spec:
    dense_of("reshape: x", x)
    sizes: list[int | None] = []
    for j, one in enumerate(list_of("reshape: shape", shape)):
        sizes.append(None if isinstance(one, Spec) else single_of(f"reshape: shape[{j}]", one))
        if isinstance(one, Spec) and one.kind is not object and one.dtype.kind not in "iu":
            raise DTypeError(f"reshape: shape[{j}]: has dtype {one.dtype}; an integer is needed")
    return Spec(_whole_shape(tuple(sizes), x.shape), x.dtype)


@reshape.define_steps
def _(rows: Any, x: Any, shape: Any) -> Any:
    return rows.reshaped(x, shape)


@reshape.define_vjp
def _(d: Array, x: Any, shape: Any) -> tuple[Array, list[None]]:
    return d.reshape(np.shape(x)), [None] * len(shape)


@operator(x=Dense, lod_rule=no_lod, differentiable=False)
def argwhere(x: Any) -> Array:
    """Return the positions of nonzero values along all axes of the ragged shape.

    Parameters
    ----------
    x : LoDTensor or array_like

    Returns
    -------
    ndarray
        int64, shape (number of nonzero values, x.ndim): their positions, sequence by sequence. `x[i, j, ...]` is such a
        value.

    Raises
    ------
    DTypeError
        If values are neither numbers nor bool.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.argwhere(lodcore.array([[0, 7], [], [8]])).tolist()
    [[0, 1], [2, 0]]
    """
    values = dense_of("argwhere: x", x, levels=True)
    _check_numbers("argwhere", values.dtype)
    known = values.copy()  # NumPy counts before it writes
    found = np.nonzero(known) if known.ndim else np.nonzero(known.reshape(1))
    if not isinstance(x, LoDTensor) or not x.num_levels:
        return np.stack(found, axis=1).astype(np.int64) if values.ndim else np.empty((len(found[0]), 0), np.int64)
    levels = x.num_levels
    columns = np.empty((x.ndim, len(found[0])), np.int64)
    for j, column in enumerate(found):
        columns[levels + j] = column
    element = found[0]
    for k in range(levels - 1, -1, -1):  # from rows to the sequences that contain them
        offsets = x.lod.offsets(k)
        numbers = buffers.new_int64(offsets.item(len(offsets) - 1))
        kernels.lod.segment_ids(offsets, numbers)
        sequence = numbers[element]
        np.subtract(element, offsets[sequence], out=columns[k + 1])
        element = sequence
    columns[0] = element
    return columns.T


def _check_numbers(where: str, dtype: np.dtype[Any], kinds: str = "biufc") -> None:
    """Raise if the dtype is not one of numbers or bool."""
    if dtype.kind not in kinds:
        needed = "integers or bool" if kinds == "biu" else "numbers or bool"
        raise DTypeError(f"{where}: x: has dtype {dtype}; {needed} are needed")


@argwhere.define_infer
def _(x: Spec) -> Spec:
    _check_numbers("argwhere", x.dtype)
    return Spec((None, x.num_levels + len(x.shape)), np.dtype(np.int64))


#: The ufuncs by name, and their results for no values.
BITWISE: dict[str, tuple[np.ufunc, int]] = {
    "and": (np.bitwise_and, -1),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}


@operator(x=Nested, lod_rule=before("level"), differentiable=False)
def sequence_bitwise(x: Any, name: str, level: int = -1) -> Any:
    """Combine the bits of all rows below each sequence.

    Parameters
    ----------
    x : LoDTensor of integers or bool, or nested lists
    name : {"and", "or", "xor"}
    level : int

    Returns
    -------
    LoDTensor, or ndarray for level 0
        One row per sequence; for an empty one, all bits of "and" are set, and none of "or" and "xor".

    Raises
    ------
    DTypeError, ValueError, LevelError
        If x does not hold integers or bool, the name is unknown, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sequence_bitwise([[1, 2, 4], [], [3, 1]], "xor")
    array([7, 0, 2])
    """
    where = "sequence_bitwise"
    ufunc, nothing = BITWISE[choice_of(f"{where}: name", name, tuple(BITWISE))]
    _check_numbers(where, x.dtype, "biu")
    k = level_of(where, x.lod, level)
    offsets = np.asarray(lod_body.in_rows(x.lod, k))
    values = x.values
    full = offsets[1:] > offsets[:-1]
    if len(full) and full.all():
        return with_levels(ufunc.reduceat(values, offsets[:-1], axis=0), x.lod, k)
    combined = np.full((len(offsets) - 1, *values.shape[1:]), np.array(nothing).astype(values.dtype))
    if full.any():
        combined[full] = ufunc.reduceat(values, offsets[:-1][full], axis=0)
    return with_levels(combined, x.lod, k)


@sequence_bitwise.define_infer
def _(x: Spec, name: str, level: int) -> Spec:
    choice_of("sequence_bitwise: name", name, tuple(BITWISE))
    _check_numbers("sequence_bitwise", x.dtype, "biu")
    level_of("sequence_bitwise", x, level)
    return Spec((None, *x.shape[1:]), x.dtype)


@elementwise_operator
def spread(x: Any, y: Any) -> Any:
    """Broadcast x to the common shape of x and y.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        Broadcast as the operands of `add` do.

    Returns
    -------
    LoDTensor or ndarray
        The values of x, in the common shape.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.spread(7, lodcore.array([[1, 2], [3]])).tolist()
    [[7, 7], [7]]
    """
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    return np.array(np.broadcast_to(x, shape))


@spread.define_vjp
def _(d: Array) -> tuple[Array, None]:
    return d, None


@named
def bitwise_reduce(x: Any, name: str, axis: Any = 0, *, keepdims: bool = False) -> Any:
    """Combine the bits of values along an axis, as the `reduce` of `numpy.bitwise_and`, `or` and `xor` does.

    Parameters
    ----------
    x : LoDTensor of integers or bool
    name : {"and", "or", "xor"}
    axis : int or tuple of int, optional
        Axes of the batch, of levels, or of a row; None for all values.
    keepdims : bool
        Not supported.

    Returns
    -------
    LoDTensor, ndarray or number
        Without values, all bits are set for "and", and none otherwise.

    Raises
    ------
    ValueError
        If the name is unknown.
    ShapeError, DTypeError
        If an axis does not exist, or x does not hold integers or bool.
    TypeError
        If keepdims is true.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 4], [], [3, 1]])
    >>> lodcore.ops.bitwise_reduce(x, "or", axis=1), lodcore.ops.bitwise_reduce(x, "or", axis=0)
    (array([7, 0, 3]), array([3, 3, 4]))
    """
    where = "bitwise_reduce"
    if keepdims:
        raise TypeError(f"{where}: keepdims: is not supported")
    x = tensor_of(where, x)
    if axis is None:
        flat = rows(x)
        for _ in range(flat.ndim - 1):
            flat = rows(rows_to_level(flat))
        return _bitwise_along(flat, name, 0)
    for one in reversed(axes_of(where, axis, x.ndim)):
        x = _bitwise_along(x, name, one)
    return x


def _bitwise_along(x: Any, name: str, axis: int) -> Any:
    """Combine bits along one axis."""
    levels = getattr(x, "num_levels", 0)
    if not levels and not axis:  # of an array, as that of finer levels is
        return index_values(sequence_bitwise(insert_level(x, 0, whole=True), name), [0])
    if axis > levels:  # an axis of rows, which becomes the last level
        order = (axis - levels, *(one for one in range(1, x.ndim - levels) if one != axis - levels))
        return sequence_bitwise(rows_to_level(transpose_rows(x, order)), name)
    return sequence_bitwise(moved_behind(x, axis, levels), name, levels - 1)


@named
def vecdot(x: Any, y: Any, axis: Any = -1) -> Any:
    """Compute the dot product of two tensors along an axis; along that of a level, sequence by sequence.

    Parameters
    ----------
    x, y : LoDTensor or array_like
        Must broadcast. A complex x is conjugated, as in `numpy.vecdot`.
    axis : int

    Returns
    -------
    LoDTensor, ndarray or number

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [], [3]])
    >>> lodcore.ops.vecdot(x, x)
    array([5, 0, 9])
    """
    x, y = tensor_of("vecdot", x), tensor_of("vecdot", y)
    if type(axis) is int and all(-one.ndim <= axis < one.ndim for one in (x, y)):
        x = check(equal_lengths, x, y, axis=axis)
    if x.dtype.kind == "c":
        x = elementwise([x], np.conjugate)
    product = mul(x, y)
    found = reductions.sum(product, axis)
    return found if found.dtype == product.dtype else cast(found, product.dtype)


@rule
def equal_lengths(x: Any, y: Any, axis: int) -> None:
    """Raise if an axis of two tensors has different lengths, of which none is repeated."""
    if any(type(one) is Spec and one.num_levels for one in (x, y)):
        return
    sizes = [one.shape[axis] for one in (x, y)]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ShapeError(f"vecdot: x, y: have lengths {sizes[0]} and {sizes[1]} on axis {axis}; equal ones are needed")
