"""Conversion operators: to another dtype, to a constant, to rows without a structure, to another structure."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_number
from lodcore.base.caller import warn
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import alike, as_dtype, common_dtype, in_unit, native_dtype
from lodcore.base.recycling import computed
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.alignment import HINT, fitted
from lodcore.operators.arguments import axis_of, dense_of, list_of, operand_of, structure_of
from lodcore.operators.copies import lod_of, spec_rows
from lodcore.operators.lod_rules import levels_of, no_lod, same_as
from lodcore.operators.operands import Array, check_equal, kept_in, no_dtype, on_rows, rows_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense, Operands, Structure
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import error_of_objects, guarded_values
from lodcore.tensors.tensor import Spec, Tensor

__all__ = ["cast", "concat_values", "full_like", "rows", "with_values"]


@operator(x=Dense)
def cast(x: Any, dtype: Any) -> Any:
    """Convert a tensor to another dtype; the result is always a copy.

    Parameters
    ----------
    x : LoDTensor or array_like
    dtype : dtype_like

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    DTypeError
        If the dtype does not exist, or values cannot be converted to it.
    ValueError
        If text is not a number.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.cast(lodcore.array([[1], [2, 3]]), "float32")
    LoDTensor(2 sequences of lengths 1..2, float32: [[1.], [2., 3.]])
    """
    made = sized("cast", dtype, x)
    values = dense_of("cast: x", x, levels=True)
    if values.dtype.kind == "c" and made.kind in "iuf":
        warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)
        values = values.real
    try:
        if made.kind in "mM" and values.dtype != made:
            return computed(lambda values: in_unit("cast: x", values, made), (values,))
        return computed(lambda values: values.astype(made), (values,))
    except DTypeError:  # for dates that are too far
        raise
    except RuntimeError as error:  # for dates as text that is too short
        raise DTypeError(f"cast: dtype: is {made}: {error}") from None
    except (ValueError, OverflowError) as error:  # for text that is not a number, or too great a one
        raise ValueError(f"cast: x: {error}") from None
    except TypeError as error:  # for records
        raise DTypeError(f"cast: x: {error}") from None


@cast.define_steps
def _(rows: Any, x: Any, dtype: Any) -> Any:
    return x.astype(dtype).value


def sized(where: str, dtype: Any, x: Any = None) -> np.dtype[Any]:
    """Return a caller's dtype, which must have a fixed size; that of a tensor with levels in native byte order."""
    if isinstance(dtype, (Tensor, Symbol)):
        raise DTypeError(f"{where}: dtype: is {type(dtype).__name__}; a dtype is needed")
    made = as_dtype(f"{where}: dtype", dtype)
    if made.hasobject:
        raise error_of_objects(f"{where}: dtype: is", made)
    if made.kind == "V" and not made.names and made != getattr(x, "dtype", None):
        raise DTypeError(
            f"{where}: dtype: is {made.str}, bytes without a meaning; a dtype of numbers, dates or text is needed"
        )
    return native_dtype(made) if getattr(x, "num_levels", 0) else made


@cast.define_infer
def _(x: Spec, dtype: Any) -> Spec:
    return Spec(x.shape, sized("cast", dtype, x))


@cast.define_vjp
def _(d: Array) -> Array:
    return d


@operator(x=Dense, differentiable=False)
def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Return a tensor with the structure and row shape of another one, filled with one value.

    Parameters
    ----------
    x : LoDTensor or array_like
    fill_value : number or array_like
        Aligned with x as if assigned to `x[...]`.
    dtype : dtype_like, optional
        By default that of x.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    DTypeError
        If the dtype does not exist, or cannot hold the value.
    ShapeError, LoDError
        If the value does not align, or has levels.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.full_like(lodcore.array([[1], [2, 3]]), 7)
    LoDTensor(2 sequences of lengths 1..2, int64: [[7], [7, 7]])
    """
    values = dense_of("full_like: x", x, levels=True)
    made = values.dtype if dtype is None else sized("full_like", dtype, x)
    fill = kept_in("full_like: fill_value", fill_value, made)
    if fill.ndim and isinstance(x, LoDTensor) and x.lod.num_levels:
        fill = fitted("full_like", values.shape, x.lod, fill)
    try:
        return computed(lambda values: np.full(values.shape, fill, made), (values,))
    except ValueError:
        raise ShapeError(f"full_like: fill_value: has shape {fill.shape}; the values of x {values.shape}") from None


full_like.cuts = True  # the values of x do not matter


@full_like.define_steps
def _(rows: Any, x: Any, fill_value: Any, dtype: Any = None) -> Any:
    made = rows.like(x, fill_value)
    return made if dtype is None or np.dtype(dtype) == rows.dtype else None


@full_like.define_infer
def _(x: Spec, fill_value: Any, dtype: Any) -> Spec:
    made = x.dtype if dtype is None else sized("full_like", dtype, x)
    kept_in("full_like: fill_value", fill_value, made)
    return Spec(x.shape, made)


@operator(x=Dense, lod_rule=no_lod)
def rows(x: Any) -> Any:
    """Return the rows of all sequences consecutively, without their structure.

    Parameters
    ----------
    x : LoDTensor or array_like

    Returns
    -------
    ndarray
        The values themselves, which share the memory of x.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.rows(lodcore.array([[1], [2, 3]]))
    array([1, 2, 3])
    """
    return dense_of("rows: x", x, levels=True)


@rows.define_infer
def _(x: Spec) -> Spec:
    return Spec(x.shape, x.dtype)


@rows.define_vjp
def _(d: Array) -> Array:
    return d


@operator(xs=Operands)
def concat_values(xs: Any, axis: int) -> Any:
    """Join tensors with one structure along an axis of their values.

    Parameters
    ----------
    xs : list of LoDTensor or ndarray
    axis : int
        The axis of the values; for LoDTensors not that of the rows.

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
    tensors = [operand_of(f"concat_values: xs[{j}]", x) for j, x in enumerate(list_of("concat_values: xs", xs))]
    at = _joined_axis(axis, tensors)

    def joined(*values: Any) -> Array:
        try:
            return np.concatenate(alike(values), at)
        except ValueError:
            raise _unlike([np.shape(rows) for rows in values], at) from None

    lod = tensors[0].lod if levels_of(tensors[0]) else None
    if lod is not None:
        for j, x in enumerate(tensors):
            check_equal("concat_values", lod, x.lod, f"xs[{j}]", "xs[0]")
    try:
        result = computed(joined, [rows_of(x) for x in tensors])
    except DTypeError:
        raise
    except (TypeError, OverflowError) as error:
        raise no_dtype("concat_values", tensors, error) from None
    return result if lod is None else on_rows("concat_values", result, lod, result.ndim)


def _joined_axis(axis: Any, tensors: list[Any]) -> int:
    """Return the axis along which tensors, or Specs, are joined."""
    if not tensors:
        raise DTypeError("concat_values: xs: is empty; at least one tensor is needed")
    shapes = [_shape_of(x) for x in tensors]
    ndim = len(shapes[0])
    if any(len(shape) != ndim for shape in shapes):
        raise ShapeError(f"concat_values: xs: have values of shapes {shapes}; as many axes are needed")
    at = axis_of("concat_values: axis", axis, ndim)
    dense = [j for j, x in enumerate(tensors) if not levels_of(x)]
    if dense and len(dense) < len(tensors):
        raise ShapeError(f"concat_values: xs[{dense[0]}]: has no levels, unlike the others; {HINT}")
    if at == 0 and any(levels_of(x) for x in tensors):
        raise ShapeError(f"concat_values: axis: is {axis}, that of the rows; use concat_batches for sequences")
    for j in range(ndim):
        if j != at and len({shape[j] for shape in shapes} - {None}) > 1:
            raise _unlike(shapes, at)
    return at


def _shape_of(x: Any) -> tuple[int | None, ...]:
    """Return the shape of values, for a LoDTensor without the number of rows, which its structure determines."""
    return (None, *x.values.shape[1:]) if isinstance(x, LoDTensor) else np.shape(x) if type(x) is not Spec else x.shape


def _unlike(shapes: list[Any], at: int) -> ShapeError:
    return ShapeError(f"concat_values: xs: have values of shapes {shapes}; only axis {at} may differ")


@concat_values.define_steps
def _(rows: Any, xs: list[Any], axis: int) -> Any:
    return rows.joined(xs, axis)


@concat_values.define_infer
def _(xs: list[Any], axis: int) -> Spec:
    at = _joined_axis(axis, xs)
    sizes = [x.shape[at] for x in xs]
    size = None if None in sizes else sum(sizes)
    dtype = common_dtype("concat_values", {f"xs[{j}]": x.dtype for j, x in enumerate(xs)})
    shape = next((x.shape for x in xs if x.num_levels), xs[0].shape)
    return Spec((*shape[:at], size, *shape[at + 1 :]), dtype)


@concat_values.define_vjp
def _(d: Array, xs: list[Any], axis: int) -> list[Array]:
    at = axis % d.ndim
    sizes = [np.shape(rows_of(x))[at] for x in xs]
    return np.split(d, np.cumsum(sizes)[:-1], at)


@operator(x=Structure, v=Dense, lod_rule=same_as("x"))
def with_values(x: Any, v: Any) -> Any:
    """Return other values with the structure of x, one entry per row.

    Parameters
    ----------
    x : LoDTensor, nested lists or LoD
        Only its structure counts.
    v : array_like, shape (number of rows, ...), or LoDTensor with the LoD of x
        Rows of any shape and dtype.

    Returns
    -------
    LoDTensor
        Has the LoD of x. It shares the values, which are read-only in it.

    Raises
    ------
    ShapeError
        If v does not have one entry per row.
    LoDError
        If v has a LoD that differs from that of x.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> lodcore.ops.with_values(x, [10, 20, 30])
    LoDTensor(3 sequences of lengths 0..2, int64: [[10, 20], [], [30]])
    """
    where = "with_values"
    lod = lod_of(f"{where}: x", x)
    if isinstance(v, LoDTensor) and v.lod.num_levels:
        check_equal(where, lod, v.lod, "v")
        return lod_tensor_body.new_tensor(v.values, lod)
    _check_entries(np.shape(v))
    rows = guarded_values(f"{where}: v", v.values if isinstance(v, LoDTensor) else v)
    if len(rows) != lod.num_rows:
        raise ShapeError(
            f"{where}: v: has {len(rows)} entries; x has {lod.num_rows} rows, and one entry per row is needed"
        )
    return lod_tensor_body.new_tensor(rows, lod) if lod.num_levels else rows


def _check_entries(shape: tuple[int | None, ...]) -> None:
    if not shape:
        raise ShapeError("with_values: v: is a number; one entry per row is needed")


@with_values.define_infer
def _(x: Spec | LoD, v: Spec) -> Spec:
    levels = structure_of("with_values: x", x).num_levels
    if v.num_levels not in (0, levels):
        raise LoDError(f"with_values: v: has {with_number(v.num_levels, 'level')}; x has {levels}")
    _check_entries(v.shape)
    return Spec(spec_rows(v), v.dtype)


@with_values.define_vjp
def _(d: Array) -> tuple[None, Array]:
    return None, d
