"""The linear layer: rows times a matrix, plus a bias."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.caller import named_caller
from lodcore.errors import ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.numbers import reals_of
from lodcore.operators.operands import Array, array_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense
from lodcore.ops.networks.gates import FEW, Weight, add_up, in_kept_memory, input_products, side_by_side, split_rows
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["linear"]

WHERE = "linear"
Shape = tuple[int | None, ...]


@operator(x=Dense, weight=Dense, bias=Dense, rowwise="x")
def linear(x: Any, weight: Any, bias: Any) -> Any:
    """Multiply each row by a matrix and add a bias.

    Parameters
    ----------
    x : LoDTensor or array_like, shape (..., n_in)
        Rows of real numbers.
    weight : array_like, shape (n_in, n_out)
    bias : array_like, shape (n_out,)

    Returns
    -------
    LoDTensor or ndarray, shape (..., n_out)
        x @ weight + bias, with the LoD of x; float32, or float64 if an argument has dtype float64 or holds integers.

    Raises
    ------
    ShapeError, DTypeError, LoDError
        If shapes do not match, weight or bias have levels, or the numbers are not real.

    Notes
    -----
    If the processor has AVX2 or AVX-512 and there are 16 rows or more, `lodcore.kernels.matrix` computes the products:
    a row has the same bits whatever other rows there are, and for any number of threads. Otherwise, NumPy computes
    them.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1.0, 2.0], [3.0, 4.0]], [2, 0])
    >>> lodcore.ops.linear(x, [[1.0], [10.0]], [0.5]).values
    array([[21.5],
           [43.5]])
    """
    values = array_of(WHERE, x)
    given = [dense_of(f"{WHERE}: {name}", one) for name, one in (("weight", weight), ("bias", bias))]
    dtype = reals_of(WHERE, x=values.dtype, weight=given[0].dtype, bias=given[1].dtype)
    _check_shapes(values.shape, isinstance(x, LoDTensor), given[0].shape, given[1].shape)
    matrix, line = (np.ascontiguousarray(one, dtype) for one in given)
    made: Array = _products(_rows(values, dtype), matrix)
    made += line
    return made.reshape(*values.shape[:-1], matrix.shape[1])


def _rows(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the rows of an array as a matrix of a dtype, with the same number of rows even without columns."""
    flat = np.ascontiguousarray(values, dtype)
    return flat if flat.ndim == 2 else flat.reshape(math.prod(flat.shape[:-1]), flat.shape[-1])


@in_kept_memory
def _products(rows: Array, matrix: Array) -> Array:
    """Multiply rows by a matrix, which is packed if there are many rows."""
    out = np.empty((len(rows), matrix.shape[1]), rows.dtype)
    if len(rows) < FEW or not kernels.matrix.is_fast():
        with named_caller():
            np.matmul(rows, matrix, out=out)
        return out
    weight = Weight(matrix)
    tasks = [partial(weight.times, rows[some], out[some]) for some in split_rows(len(rows), matrix.size)]
    side_by_side(tasks, len(rows) * matrix.size)
    return out


def _check_shapes(x: Shape, nested: bool, weight: Shape, bias: Shape) -> None:
    """Check the shapes of rows, matrix and bias; sizes of Specs may be None."""
    if len(x) < 1 + nested:
        raise ShapeError(f"{WHERE}: x: has rows of shape (); rows of numbers are needed")
    if len(weight) != 2 or (None not in (x[-1], weight[0]) and weight[0] != x[-1]):
        raise ShapeError(f"{WHERE}: weight: has shape {weight}; ({x[-1]}, n_out) is needed for rows of {x[-1]} numbers")
    if len(bias) != 1 or (None not in (weight[1], bias[0]) and bias[0] != weight[1]):
        raise ShapeError(f"{WHERE}: bias: has shape {bias}; ({weight[1]},) is needed, one number per column of weight")


@linear.define_steps
def _(rows: Any, x: Any, weight: Any, bias: Any) -> Any:
    return rows.plus(rows.product(x, weight), bias)


@linear.define_infer
def _(x: Spec, weight: Spec, bias: Spec) -> Spec:
    given = [dense_of(f"{WHERE}: {name}", one) for name, one in (("weight", weight), ("bias", bias))]
    dtype = reals_of(WHERE, x=x.dtype, weight=given[0].dtype, bias=given[1].dtype)
    _check_shapes(x.shape, x.num_levels > 0, given[0].shape, given[1].shape)
    return Spec((*x.shape[:-1], given[0].shape[1]), dtype)


@linear.define_vjp
def _(d: Array, x: Any, weight: Any, bias: Any, needs: Any) -> tuple[Any, ...]:
    values, dtype = array_of(WHERE, x), d.dtype
    matrix, line = dense_of(WHERE, weight), dense_of(WHERE, bias)
    rows, given = _rows(values, dtype), _rows(d, dtype)
    made = _back(rows, np.ascontiguousarray(matrix, dtype), given, needs)
    return tuple(
        [
            one.reshape(like.shape).astype(like.dtype, copy=False) if needed else None
            for one, like, needed in zip(made, (values, matrix, line), needs, strict=True)
        ]
    )


@in_kept_memory
def _back(rows: Array, matrix: Array, d: Array, needs: Any) -> tuple[Array, Array, Array]:
    """Compute the needed gradients of rows, matrix and bias."""
    d_rows, d_matrix, d_line = np.empty_like(rows), np.empty_like(matrix), np.empty(matrix.shape[1], d.dtype)
    tasks: list[Callable[[], Any]] = [partial(add_up, d, d_line)] if needs.bias else []
    if len(rows) >= FEW and kernels.matrix.is_fast():
        if needs.x or needs.weight:
            tasks = input_products(rows, matrix, d, d_rows, d_matrix, needs[:2]) + tasks
    else:
        with named_caller():
            if needs.x:
                np.matmul(d, matrix.T, out=d_rows)
            if needs.weight:
                np.matmul(rows.T, d, out=d_matrix)
    side_by_side(tasks, len(rows) * matrix.size)
    return d_rows, d_matrix, d_line
