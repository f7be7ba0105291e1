"""Elementwise math on arrays and on the rows of LoDTensors.

A dense operand broadcasts against the rows (`values`) of a LoDTensor, always; two LoDTensors must have one structure,
and are computed with row by row.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.ops.common import Array, broadcast_spec, joined, lined_up, rows_of, shared, undone
from lodcore.ops.slopes import SLOPES
from lodcore.registry import Dense, Op, Operands, Spec, Steady, op

__all__ = [
    "add",
    "div",
    "elementwise",
    "exp",
    "float_of",
    "log",
    "minus",
    "mul",
    "relu",
    "sigmoid",
    "sqrt",
    "tanh",
    "where",
]

# -- two operands ------------------------------------------------------------------------------------------------------


def _binary(
    ufunc: np.ufunc, on_arrays: Callable[..., Any], slopes: Callable[..., tuple[Any, Any]], *unread: str
) -> Callable[[Any], Op]:
    """Make an operator of two operands; `slopes(d, x, y, out, needs_x, needs_y)` gives the gradients.

    `on_arrays` is what Python calls for the function of NumPy, which takes longer for numbers. The values of what is
    named in `unread` are not read by `slopes`.
    """

    def make(function: Any) -> Op:
        made = op(lod="share")(function)
        made.on_arrays, made.slopes, made.unread = on_arrays, slopes, frozenset(unread)

        @made.infer
        def _(x: Any, y: Any) -> Spec:
            return broadcast_spec(made.__name__, dtype_of(made.__name__, ufunc, x, y), x, y)

        @made.backward
        def _(saved: Any, d: Array) -> tuple[Any, Any]:
            x, y = saved.x, saved.y
            if type(x) is not np.ndarray or type(y) is not np.ndarray:
                x, y = lined_up([x, y])
            needs = saved.needs("x"), saved.needs("y")
            d_x, d_y = slopes(d, x, y, rows_of(saved.out), *needs)
            return (
                undone(d_x, saved.x, x) if needs[0] else None,
                undone(d_y, saved.y, y) if needs[1] else None,
            )

        return made

    return make


def dtype_of(where: str, ufunc: np.ufunc, *inputs: Any) -> np.dtype[Any]:
    """Tell the dtype of an elementwise result; Python's numbers take that of the others."""
    given = []
    for x in inputs:
        if isinstance(x, Spec) and x.kind in (int, float, complex):  # a number of Python, or an element
            given.append(x.kind)
        elif isinstance(x, Spec) or hasattr(x, "dtype"):
            given.append(np.dtype(x.dtype))
        elif type(x) in (int, float, complex):
            given.append(type(x))
        else:
            given.append(np.asarray(x).dtype)
    try:
        found: np.dtype[Any] = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))[ufunc.nin]
    except TypeError as error:
        raise DTypeError(f"{where}: {error}") from None
    return found


@_binary(np.add, operator.add, lambda d, x, y, out, wx, wy: (d, d), "x", "y", "out")
def add(x: Dense, y: Dense) -> Any:
    """Add elementwise.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        Dense operands broadcast against the rows. The rows of two LoDTensors are added one to one, and broadcast
        against each other.

    Returns
    -------
    LoDTensor or ndarray
        With the LoD of the first operand that has one.

    Raises
    ------
    LoDError
        If both have a LoD, and not the same; names the first sequence that differs.
    ShapeError
        If the shapes do not broadcast, or not to one row a row.
    DTypeError
        If an operand is no tensor, or NumPy has no sum of such dtypes.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.add(lodcore.array([[1, 2], [3]]), 10)
    LoDTensor(2 sequences of lengths 1..2, int64: [[11, 12], [13]])
    """
    return shared("add", np.add, x, y)


add.steady = Steady(
    places=(0, 1),
    ndim=1,
    elementwise=True,
    prepared=lambda operand: None,
    slope=lambda d, prepared: d,
    total=lambda ds, xs: joined(ds).sum(0),
)


@_binary(np.subtract, operator.sub, lambda d, x, y, out, wx, wy: (d, -d if wy else None), "x", "y", "out")
def minus(x: Dense, y: Dense) -> Any:
    """Subtract elementwise; operands and errors as of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.minus(lodcore.array([[1, 2], [3]]), 1)
    LoDTensor(2 sequences of lengths 1..2, int64: [[0, 1], [2]])
    """
    return shared("minus", np.subtract, x, y)


@_binary(np.multiply, operator.mul, lambda d, x, y, out, wx, wy: (d * y if wx else None, d * x if wy else None), "out")
def mul(x: Dense, y: Dense) -> Any:
    """Multiply elementwise; operands and errors as of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.mul(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 4], [6]])
    """
    return shared("mul", np.multiply, x, y)


mul.steady = Steady(
    places=(0, 1),
    ndim=1,
    elementwise=True,
    prepared=lambda operand: operand,
    slope=np.multiply,
    total=lambda ds, xs: (joined(ds) * joined(xs)).sum(0),
)


@_binary(
    np.divide, operator.truediv, lambda d, x, y, out, wx, wy: (d / y if wx else None, -d * out / y if wy else None), "x"
)
def div(x: Dense, y: Dense) -> Any:
    """Divide elementwise; operands and errors as of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.div(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, float64: [[0.5, 1.], [1.5]])
    """
    return shared("div", np.divide, x, y)


# -- one operand -------------------------------------------------------------------------------------------------------


def _unary(
    slope: Callable[[Array, Any, Any], Any], dtype: Callable[[np.dtype[Any]], Any], unread: str
) -> Callable[[Any], Op]:
    """Make an operator of one operand; `slope(d, x, out)` gives the gradient, and does not read one of the two."""

    def make(function: Any) -> Op:
        made = op(lod="share")(function)
        made.slopes, made.unread = lambda d, x, out, needed: (slope(d, x, out),), frozenset({unread})

        @made.infer
        def _(x: Any) -> Spec:
            return broadcast_spec(made.__name__, dtype(x.dtype), x)

        @made.backward
        def _(saved: Any, d: Array) -> tuple[Any]:
            return (slope(d, rows_of(saved.x), rows_of(saved.out)),)

        return made

    return make


@functools.cache
def float_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Tell the dtype in which NumPy computes functions of real numbers."""
    return dtype_of(f"dtype {dtype}", np.tanh, dtype.type(0))


def _sigmoid(x: Any) -> Any:
    """Compute 1 / (1 + exp(-x)) without overflow: both branches are functions of exp(-|x|)."""
    x = np.asarray(x)
    small = np.exp(-np.abs(x.astype(float_of(x.dtype), copy=False)))
    return np.where(x < 0, small, small.dtype.type(1)) / (small + small.dtype.type(1))


@_unary(lambda d, x, out: d * (out * (1 - out)), float_of, "x")
def sigmoid(x: Dense) -> Any:
    """Compute 1 / (1 + exp(-x)) elementwise.

    Parameters
    ----------
    x : LoDTensor or array_like

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sigmoid([0.0, 1000.0, -1000.0])
    array([0.5, 1. , 0. ])
    """
    return shared("sigmoid", _sigmoid, x)


@_unary(lambda d, x, out: d * (1 - out * out), float_of, "x")
def tanh(x: Dense) -> Any:
    """Compute the hyperbolic tangent elementwise.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.tanh(lodcore.array([[0.0], [1000.0]]))
    LoDTensor(2 sequences of length 1, float64: [[0.], [1.]])
    """
    return shared("tanh", np.tanh, x)


@_unary(lambda d, x, out: d * (out > 0), lambda dtype: dtype, "x")
def relu(x: Dense) -> Any:
    """Compute max(x, 0) elementwise; NaN stays, and the slope at 0 is 0.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.relu([-1.0, 2.0])
    array([0., 2.])
    """
    return shared("relu", _relu, x)


def _relu(x: Any) -> Any:
    x = np.asarray(x)
    return np.maximum(x, x.dtype.type(0))


@_unary(lambda d, x, out: d * out, float_of, "x")
def exp(x: Dense) -> Any:
    """Compute the exponential elementwise.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.exp([0.0, 1.0])
    array([1.        , 2.71828183])
    """
    return shared("exp", np.exp, x)


@_unary(lambda d, x, out: d / x, float_of, "out")
def log(x: Dense) -> Any:
    """Compute the natural logarithm elementwise; warnings as NumPy gives them.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.log([1.0, 2.0])
    array([0.        , 0.69314718])
    """
    return shared("log", np.log, x)


@_unary(lambda d, x, out: d / (2 * out), float_of, "x")
def sqrt(x: Dense) -> Any:
    """Compute the square root elementwise.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sqrt([4.0, 9.0])
    array([2., 3.])
    """
    return shared("sqrt", np.sqrt, x)


tanh.on_arrays, sigmoid.on_arrays, relu.on_arrays = np.tanh, _sigmoid, _relu
exp.on_arrays, log.on_arrays, sqrt.on_arrays = np.exp, np.log, np.sqrt


# -- any ufunc ---------------------------------------------------------------------------------------------------------


@op(lod="share")
def elementwise(xs: Operands, ufunc: np.ufunc) -> Any:
    """Apply a ufunc of NumPy that has one result.

    Parameters
    ----------
    xs : list of LoDTensor, array or number
        The operands, as of `add`.
    ufunc : numpy.ufunc
        Its gradient is known for those in `lodcore.ops.slopes.SLOPES`.

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    DTypeError
        If it is no ufunc of as many operands with one result.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.ops.elementwise([lodcore.array([[1, -2], [3]])], np.negative)
    LoDTensor(2 sequences of lengths 1..2, int64: [[-1, 2], [-3]])
    """
    _check_ufunc(ufunc, xs)
    return shared(ufunc.__name__, ufunc, *xs)


def _check_ufunc(ufunc: Any, xs: Any) -> None:
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1 or ufunc.signature is not None:
        raise DTypeError(f"elementwise: ufunc: is {ufunc!r}; a ufunc with one result is needed")
    if not isinstance(xs, (list, tuple)) or len(xs) != ufunc.nin:
        raise DTypeError(f"elementwise: xs: a list of {ufunc.nin} operands is needed for {ufunc.__name__}")


@elementwise.infer
def _(xs: list[Any], ufunc: np.ufunc) -> Spec:
    _check_ufunc(ufunc, xs)
    return broadcast_spec(ufunc.__name__, dtype_of(ufunc.__name__, ufunc, *xs), *xs)


@elementwise.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    ufunc = saved.ufunc
    if ufunc.__name__ not in SLOPES:
        raise DTypeError(f"{ufunc.__name__}: has no gradient")
    values = lined_up(saved.xs)
    found = SLOPES[ufunc.__name__](d, rows_of(saved.out), *values)
    return ([None if g is None else undone(g, x, v) for g, x, v in zip(found, saved.xs, values, strict=True)],)


@op(lod="share")
def where(condition: Dense, x: Dense, y: Dense) -> Any:
    """Choose elementwise: x where a condition holds, y elsewhere.

    Parameters
    ----------
    condition, x, y : LoDTensor, array_like or number
        As the operands of `add`.

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, -2], [3]])
    >>> lodcore.ops.where(lodcore.greater_than(x, 0), x, 0)
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 0], [3]])
    """
    return shared("where", np.where, condition, x, y)


@where.infer
def _(condition: Any, x: Any, y: Any) -> Spec:
    return broadcast_spec("where", dtype_of("where", np.maximum, x, y), condition, x, y)


@where.backward
def _(saved: Any, d: Array) -> tuple[None, Any, Any]:
    condition, x, y = lined_up([saved.condition, saved.x, saved.y])
    d_x = undone(np.where(condition, d, 0), saved.x, x) if saved.needs("x") else None
    d_y = undone(np.where(condition, 0, d), saved.y, y) if saved.needs("y") else None
    return None, d_x, d_y
