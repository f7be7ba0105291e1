"""Other dtypes, constants in the form of a tensor, rows without structure, rows made longer."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, ShapeError
from lodcore.ops.common import Array, array_of, broadcast_spec, kept_in, rows_of, shared
from lodcore.registry import Dense, Operands, Spec, op
from lodcore.symbol import Symbol
from lodcore.tensor import Tensor

__all__ = ["cast", "concat_values", "full_like", "rows"]


@op(lod="share")
def cast(x: Dense, dtype: Any) -> Any:
    """Convert to another dtype; a copy, always.

    Parameters
    ----------
    x : LoDTensor or array_like
    dtype : dtype_like

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.cast(lodcore.array([[1], [2, 3]]), "float32")
    LoDTensor(2 sequences of lengths 1..2, float32: [[1.], [2., 3.]])
    """
    made = sized("cast", dtype)

    def converted(values: Any) -> Array:
        try:
            return np.asarray(values).astype(made)
        except RuntimeError as error:  # dates as text that is too short
            raise DTypeError(f"cast: dtype: is {made}: {error}") from None

    return shared("cast", converted, x)


def sized(where: str, dtype: Any) -> np.dtype[Any]:
    """Take a dtype of a fixed size."""
    if isinstance(dtype, (Tensor, Symbol)):
        raise DTypeError(f"{where}: dtype: is {type(dtype).__name__}; a dtype is needed")
    try:
        made: np.dtype[Any] = np.dtype(dtype)
    except TypeError as error:
        raise DTypeError(f"{where}: dtype: {error}") from None
    if made.hasobject:
        raise DTypeError(f"{where}: dtype: is {made}; Python objects have no fixed size")
    return made


@cast.infer
def _(x: Any, dtype: Any) -> Spec:
    return broadcast_spec("cast", sized("cast", dtype), x)


@cast.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    return (d,)


@op(lod="share", gradient=False)
def full_like(x: Dense, fill_value: Any, dtype: Any = None) -> Any:
    """Make a tensor of the structure and row shape of another one, of one value.

    Parameters
    ----------
    x : LoDTensor or array_like
    fill_value : number or array_like
        Broadcasts against the rows.
    dtype : dtype_like, optional
        That of x, if not given.

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.full_like(lodcore.array([[1], [2, 3]]), 7)
    LoDTensor(2 sequences of lengths 1..2, int64: [[7], [7, 7]])
    """
    made = None if dtype is None else sized("full_like", dtype)

    def filled(values: Any) -> Array:
        target = made or np.asarray(values).dtype
        return np.full(np.shape(values), kept_in("full_like: fill_value", fill_value, target), target)

    return shared("full_like", filled, x)


@full_like.infer
def _(x: Any, fill_value: Any, dtype: Any) -> Spec:
    return broadcast_spec("full_like", x.dtype if dtype is None else sized("full_like", dtype), x)


@op(lod="none")
def rows(x: Dense) -> Any:
    """Give the rows of all sequences behind each other, without their structure.

    Parameters
    ----------
    x : LoDTensor or array_like

    Returns
    -------
    ndarray
        The values themselves.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.rows(lodcore.array([[1], [2, 3]]))
    array([1, 2, 3])
    """
    return array_of("rows", x)


@rows.infer
def _(x: Spec) -> Spec:
    return Spec(x.shape, x.dtype)


@rows.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    return (d,)


@op(lod="share")
def concat_values(xs: Operands, axis: int) -> Any:
    """Join tensors of one structure along an axis of their values.

    Parameters
    ----------
    xs : list of LoDTensor or ndarray
    axis : int
        Of the values; not that of the rows of a LoDTensor.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    LoDError, ShapeError
        If the structures differ, or the lengths of other axes.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1, 2], [3, 4], [5, 6]], [2, 1])
    >>> lodcore.ops.concat_values([x, -x], 1).values
    array([[ 1,  2, -1, -2],
           [ 3,  4, -3, -4],
           [ 5,  6, -5, -6]])
    """
    if not isinstance(xs, (list, tuple)) or not xs:
        raise DTypeError("concat_values: xs: a list of at least one tensor is needed")
    shapes = [np.shape(rows_of(x)) for x in xs]
    at = _joined_axis(axis, shapes)

    def joined(*values: Any) -> Array:
        if any(np.shape(v)[:at] + np.shape(v)[at + 1 :] != shapes[0][:at] + shapes[0][at + 1 :] for v in values):
            raise ShapeError(f"concat_values: xs: have values of shapes {shapes}; only axis {at} may differ")
        return np.concatenate(values, at)

    return shared("concat_values", joined, *xs)


def _joined_axis(axis: Any, shapes: list[Any]) -> int:
    ndim = len(shapes[0])
    if any(len(shape) != ndim for shape in shapes):
        raise ShapeError(f"concat_values: xs: have values of shapes {shapes}; as many axes are needed")
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"concat_values: axis: is {axis!r}; an integer is needed")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"concat_values: axis: is {axis}; the values have {ndim} axes")
    found: int = axis.__index__() % ndim
    return found


@concat_values.infer
def _(xs: list[Any], axis: int) -> Spec:
    shapes = [x.shape for x in xs]
    at = _joined_axis(axis, shapes)
    sizes = [shape[at] for shape in shapes]
    size = None if None in sizes else sum(sizes)
    dtype = np.result_type(*[x.dtype for x in xs])
    return Spec((*shapes[0][:at], size, *shapes[0][at + 1 :]), dtype)


@concat_values.backward
def _(saved: Any, d: Array) -> tuple[list[Any]]:
    at = saved.axis % d.ndim
    sizes = [np.shape(rows_of(x))[at] for x in saved.xs]
    return (np.split(d, np.cumsum(sizes)[:-1], at),)
