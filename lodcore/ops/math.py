"""Dense math on arrays and on the rows of LoDTensors: elementwise functions, matrix products, means and losses.

A dense operand broadcasts against the rows (`values`) of a LoDTensor, always; two LoDTensors must have one structure.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.ops.common import Array, aligned, rows_of, shared, unbroadcast
from lodcore.registry import Batches, Dense, Op, Spec, op
from lodcore.tensor import LoDTensor

__all__ = [
    "add",
    "cast",
    "cross_entropy",
    "div",
    "elementwise",
    "exp",
    "log",
    "matmul",
    "mean",
    "minus",
    "mul",
    "relu",
    "sigmoid",
    "softmax",
    "sqrt",
    "sum",
    "tanh",
]

# -- two operands ------------------------------------------------------------------------------------------------------


def _binary(ufunc: np.ufunc, slopes: Callable[..., tuple[Any, Any]]) -> Callable[[Any], Op]:
    """Make an operator of two operands; `slopes(d, x, y, out)` gives the gradients before broadcasting is undone."""

    def make(function: Any) -> Op:
        made = op(lod="share")(function)

        @made.infer
        def _(x: Any, y: Any) -> Spec:
            return broadcast_spec(made.__name__, ufunc, x, y)

        @made.backward
        def _(saved: Any, d: Array) -> tuple[Any, Any]:
            x, y = rows_of(saved.x), rows_of(saved.y)
            d_x, d_y = slopes(d, x, y, rows_of(saved.out), saved.needs("x"), saved.needs("y"))
            return (
                unbroadcast(d_x, np.shape(x)) if saved.needs("x") else None,
                unbroadcast(d_y, np.shape(y)) if saved.needs("y") else None,
            )

        return made

    return make


def broadcast_spec(where: str, ufunc: np.ufunc, *inputs: Any) -> Spec:
    """Tell the Spec of an elementwise result: shapes broadcast, None where the number of rows is not known."""
    specs = [x for x in inputs if isinstance(x, Spec)]
    dtypes = [x.dtype if isinstance(x, Spec) else type(x) for x in inputs]
    given = tuple(t if isinstance(t, type) else np.dtype(t) for t in dtypes)
    dtype = ufunc.resolve_dtypes((*given, *[None] * ufunc.nout))[ufunc.nin]
    ndim = max(len(x.shape) for x in specs)
    shape: list[int | None] = []
    for axis in range(-ndim, 0):
        sizes = [x.shape[axis] for x in specs if len(x.shape) >= -axis]
        known = {size for size in sizes if size is not None and size != 1}
        if len(known) > 1:
            raise ShapeError(f"{where}: shapes {[x.shape for x in specs]} do not broadcast")
        shape.append(known.pop() if known else None if None in sizes else 1)
    return Spec(tuple(shape), dtype, 0, specs[0].kind)


@_binary(np.add, lambda d, x, y, out, wx, wy: (d, d))
def add(x: Dense, y: Dense) -> Any:
    """Add elementwise.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        Dense operands broadcast against the rows.

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

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.add(lodcore.array([[1, 2], [3]]), 10)
    LoDTensor(2 sequences of lengths 1..2, int64: [[11, 12], [13]])
    """
    return shared("add", np.add, x, y)


@_binary(np.subtract, lambda d, x, y, out, wx, wy: (d, -d if wy else None))
def minus(x: Dense, y: Dense) -> Any:
    """Subtract elementwise; operands and errors as of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.minus(lodcore.array([[1, 2], [3]]), 1)
    LoDTensor(2 sequences of lengths 1..2, int64: [[0, 1], [2]])
    """
    return shared("minus", np.subtract, x, y)


@_binary(np.multiply, lambda d, x, y, out, wx, wy: (d * y if wx else None, d * x if wy else None))
def mul(x: Dense, y: Dense) -> Any:
    """Multiply elementwise; operands and errors as of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.mul(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 4], [6]])
    """
    return shared("mul", np.multiply, x, y)


@_binary(np.divide, lambda d, x, y, out, wx, wy: (d / y if wx else None, -d * out / y if wy else None))
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


def _unary(slope: Callable[[Array, Any, Any], Any], dtype: Callable[[np.dtype[Any]], Any]) -> Callable[[Any], Op]:
    """Make an operator of one operand; `slope(d, x, out)` gives the gradient."""

    def make(function: Any) -> Op:
        made = op(lod="share")(function)

        @made.infer
        def _(x: Spec) -> Spec:
            return x._replace(dtype=dtype(x.dtype))

        @made.backward
        def _(saved: Any, d: Array) -> tuple[Any]:
            return (slope(d, rows_of(saved.x), rows_of(saved.out)),)

        return made

    return make


def _float_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Tell the dtype in which NumPy computes functions of real numbers."""
    found: np.dtype[Any] = np.tanh.resolve_dtypes((dtype, None))[1]
    return found


def _sigmoid(x: Any) -> Any:
    """Compute 1 / (1 + exp(-x)) without overflow: both branches are functions of exp(-|x|)."""
    x = np.asarray(x)
    small = np.exp(-np.abs(x.astype(_float_of(x.dtype), copy=False)))
    return np.where(x < 0, small, small.dtype.type(1)) / (small + small.dtype.type(1))


@_unary(lambda d, x, out: d * (out * (1 - out)), _float_of)
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


@_unary(lambda d, x, out: d * (1 - out * out), _float_of)
def tanh(x: Dense) -> Any:
    """Compute the hyperbolic tangent elementwise.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.tanh(lodcore.array([[0.0], [1000.0]]))
    LoDTensor(2 sequences of length 1, float64: [[0.], [1.]])
    """
    return shared("tanh", np.tanh, x)


@_unary(lambda d, x, out: d * (out > 0), lambda dtype: dtype)
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


@_unary(lambda d, x, out: d * out, _float_of)
def exp(x: Dense) -> Any:
    """Compute the exponential elementwise.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.exp([0.0, 1.0])
    array([1.        , 2.71828183])
    """
    return shared("exp", np.exp, x)


@_unary(lambda d, x, out: d / x, _float_of)
def log(x: Dense) -> Any:
    """Compute the natural logarithm elementwise; warnings as NumPy gives them.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.log([1.0, 2.0])
    array([0.        , 0.69314718])
    """
    return shared("log", np.log, x)


@_unary(lambda d, x, out: d / (2 * out), _float_of)
def sqrt(x: Dense) -> Any:
    """Compute the square root elementwise.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sqrt([4.0, 9.0])
    array([2., 3.])
    """
    return shared("sqrt", np.sqrt, x)


#: Gradients of NumPy's other elementwise functions: of d, out and the operands, one an operand.
SLOPES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "negative": lambda d, out, x: (-d,),
    "positive": lambda d, out, x: (d,),
    "absolute": lambda d, out, x: (d * np.sign(x),),
    "fabs": lambda d, out, x: (d * np.sign(x),),
    "square": lambda d, out, x: (2 * d * x,),
    "reciprocal": lambda d, out, x: (-d * out * out,),
    "cbrt": lambda d, out, x: (d / (3 * out * out),),
    "exp2": lambda d, out, x: (d * out * np.log(2),),
    "expm1": lambda d, out, x: (d * (out + 1),),
    "log2": lambda d, out, x: (d / (x * np.log(2)),),
    "log10": lambda d, out, x: (d / (x * np.log(10)),),
    "log1p": lambda d, out, x: (d / (1 + x),),
    "sin": lambda d, out, x: (d * np.cos(x),),
    "cos": lambda d, out, x: (-d * np.sin(x),),
    "tan": lambda d, out, x: (d * (1 + out * out),),
    "arcsin": lambda d, out, x: (d / np.sqrt(1 - x * x),),
    "arccos": lambda d, out, x: (-d / np.sqrt(1 - x * x),),
    "arctan": lambda d, out, x: (d / (1 + x * x),),
    "sinh": lambda d, out, x: (d * np.cosh(x),),
    "cosh": lambda d, out, x: (d * np.sinh(x),),
    "arcsinh": lambda d, out, x: (d / np.sqrt(x * x + 1),),
    "arctanh": lambda d, out, x: (d / (1 - x * x),),
    "maximum": lambda d, out, x, y: (d * (x >= y), d * (y > x)),
    "minimum": lambda d, out, x, y: (d * (x <= y), d * (y < x)),
    "power": lambda d, out, x, y: (d * y * np.power(x, y - 1.0), d * out * np.log(np.where(x > 0, x, 1))),
    "arctan2": lambda d, out, x, y: (d * y / (x * x + y * y), -d * x / (x * x + y * y)),
    "hypot": lambda d, out, x, y: (d * x / out, d * y / out),
    "logaddexp": lambda d, out, x, y: (d * np.exp(x - out), d * np.exp(y - out)),
    "copysign": lambda d, out, x, y: (d * np.copysign(1, x) * np.copysign(1, y), None),
}


@op(lod="share")
def elementwise(xs: Batches, ufunc: np.ufunc) -> Any:
    """Apply a ufunc of NumPy that has one result.

    Parameters
    ----------
    xs : list of LoDTensor, array or number
        The operands.
    ufunc : numpy.ufunc
        Its gradient is known for those in `lodcore.ops.math.SLOPES`.

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.ops.elementwise([lodcore.array([[1, -2], [3]])], np.negative)
    LoDTensor(2 sequences of lengths 1..2, int64: [[-1, 2], [-3]])
    """
    return shared(ufunc.__name__, ufunc, *xs)


@elementwise.infer
def _(xs: list[Any], ufunc: np.ufunc) -> Spec:
    return broadcast_spec(ufunc.__name__, ufunc, *xs)


@elementwise.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    ufunc = saved.ufunc
    if ufunc.__name__ not in SLOPES:
        raise DTypeError(f"{ufunc.__name__}: has no gradient")
    values = [rows_of(x) for x in saved.xs]
    found = SLOPES[ufunc.__name__](d, rows_of(saved.out), *values)
    return ([None if g is None else unbroadcast(g, np.shape(x)) for g, x in zip(found, values, strict=True)],)


# -- types, products ---------------------------------------------------------------------------------------------------


@op(lod="share")
def cast(x: Dense, dtype: Any) -> Any:
    """Convert to another dtype.

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
    made = np.dtype(dtype)
    if made.hasobject:
        raise DTypeError(f"cast: dtype: is {made}; Python objects have no fixed size")
    return shared("cast", lambda values: np.asarray(values).astype(made), x)


@cast.infer
def _(x: Spec, dtype: Any) -> Spec:
    return x._replace(dtype=np.dtype(dtype))


@cast.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    return (d,)


@op(lod="share")
def matmul(x: Dense, y: Dense) -> Any:
    """Multiply matrices; the rows of a LoDTensor are those of the left one.

    Parameters
    ----------
    x : LoDTensor or array_like, shape (..., n, k), or (k,)
    y : array_like, shape (..., k, m), or (k,)

    Returns
    -------
    LoDTensor or ndarray
        With the LoD of x.

    Raises
    ------
    LoDError
        If y has a LoD.
    ShapeError
        If the inner sizes differ.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    >>> lodcore.ops.matmul(x, np.array([[1.0], [2.0]])).values
    array([[3.],
           [3.],
           [3.]])
    """
    if isinstance(y, LoDTensor):
        raise LoDError("matmul: y: has levels; only the left operand may have them")
    y = np.asarray(y)
    values = rows_of(x)
    values = values if isinstance(values, np.ndarray) else np.asarray(values)
    if values.ndim == 0 or y.ndim == 0 or values.shape[-1] != y.shape[-2 if y.ndim > 1 else 0]:
        raise ShapeError(f"matmul: x, y: have shapes {values.shape}, {y.shape}; the inner sizes must be equal")
    if isinstance(x, LoDTensor) and values.ndim == 1:
        raise ShapeError(f"matmul: x: has rows of shape (); rows of shape ({y.shape[0]},) are needed")
    return aligned("matmul", np.matmul(values, y), x)


@matmul.infer
def _(x: Spec, y: Spec) -> Spec:
    if y.num_levels:
        raise LoDError("matmul: y: has levels; only the left operand may have them")
    inner = y.shape[-2 if len(y.shape) > 1 else 0]
    if None not in (x.shape[-1], inner) and x.shape[-1] != inner:
        raise ShapeError(f"matmul: x, y: have shapes {x.shape}, {y.shape}; the inner sizes must be equal")
    dtype = np.matmul.resolve_dtypes((x.dtype, y.dtype, None))[2]
    front = x.shape[:-1] if len(x.shape) >= len(y.shape) else (*y.shape[:-2], *x.shape[:-1][-1:])
    return x._replace(shape=(*front, *(y.shape[-1:] if len(y.shape) > 1 else ())), dtype=dtype)


@matmul.backward
def _(saved: Any, d: Array) -> tuple[Any, Any]:
    x, y = rows_of(saved.x), np.asarray(saved.y)
    left = x if x.ndim > 1 else x[None, :]
    right = y if y.ndim > 1 else y[:, None]
    d = np.expand_dims(d, -2) if x.ndim == 1 else d
    d = np.expand_dims(d, -1) if y.ndim == 1 else d
    d_x = d_y = None
    if saved.needs("x"):
        d_x = unbroadcast(np.matmul(d, np.swapaxes(right, -1, -2)), left.shape).reshape(x.shape)
    if saved.needs("y"):
        if right.ndim == 2 and left.ndim > 2:  # one product for all
            left, d = left.reshape(-1, left.shape[-1]), d.reshape(-1, d.shape[-1])
        d_y = unbroadcast(np.matmul(np.swapaxes(left, -1, -2), d), right.shape).reshape(y.shape)
    return d_x, d_y


# -- over an axis ------------------------------------------------------------------------------------------------------


@op(lod="share")
def softmax(x: Dense, axis: int = -1) -> Any:
    """Compute the softmax over an axis of the values: exp(x - max) / sum(exp(x - max)).

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int
        Of the values, not of the levels: see `sequence_softmax` for those.

    Returns
    -------
    LoDTensor or ndarray
        Float64 for integers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.softmax([[0.0, 0.0], [1000.0, 0.0]])
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    values = np.asarray(rows_of(x))
    where = _axis("softmax", axis, values.ndim, isinstance(x, LoDTensor))
    if values.shape[where] == 0:
        return aligned("softmax", values.astype(_float_of(values.dtype)), x)
    powers = np.exp(values - values.max(where, keepdims=True))
    return aligned("softmax", powers / powers.sum(where, keepdims=True), x)


def _axis(name: str, axis: int, ndim: int, nested: bool) -> int:
    """Check an axis of values, and count it from the first."""
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"{name}: axis: is {axis!r}; an integer is needed")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{name}: axis: is {axis}; the values have {ndim} axes")
    found = axis % ndim
    if nested and found == 0:
        raise ShapeError(f"{name}: axis: is {axis}, that of the rows; use sequence_{name} for sequences")
    return found


@softmax.infer
def _(x: Spec, axis: int) -> Spec:
    return x._replace(dtype=_float_of(x.dtype))


@softmax.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    out = rows_of(saved.out)
    return (out * (d - (d * out).sum(saved.axis, keepdims=True)),)


@op(lod="none")
def cross_entropy(logits: Dense, labels: Dense) -> Any:
    """Compute the loss of each row: log(sum(exp(logits))) - logits[label].

    Parameters
    ----------
    logits : LoDTensor or array_like, shape (n, classes)
    labels : LoDTensor or array_like of integers, shape (n,) or (n, 1)

    Returns
    -------
    ndarray, shape (n,)
        One loss a row.

    Raises
    ------
    IndexError
        Naming the first row whose label is no class.
    LoDError
        If both have a LoD, and not the same.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.cross_entropy([[0.0, 0.0], [1000.0, 0.0]], [0, 0])
    array([0.69314718, 0.        ])
    """
    return _cross_entropy(logits, labels)[0]


@cross_entropy.saving
def _cross_entropy(logits: Any, labels: Any) -> tuple[Any, Any]:
    if isinstance(logits, LoDTensor) and isinstance(labels, LoDTensor):
        aligned("cross_entropy", np.empty((logits.num_rows, 0)), logits, labels)
    scores = np.asarray(rows_of(logits))
    if scores.ndim != 2 or scores.dtype.kind not in "biuf":
        raise ShapeError(f"cross_entropy: logits: have shape {scores.shape}, {scores.dtype}; (n, classes) is needed")
    classes = _labels(labels, *scores.shape)
    scores = scores.astype(_float_of(scores.dtype), copy=False)
    shifted = scores - scores.max(1, keepdims=True, initial=-np.inf) if scores.size else scores
    powers = np.exp(shifted)
    sums = powers.sum(1)
    rows = np.arange(len(scores))
    return np.log(sums) - shifted[rows, classes], (powers, sums, classes)


def _labels(labels: Any, count: int, num_classes: int) -> Array:
    """Check labels, one a row."""
    given = np.asarray(rows_of(labels))
    if given.size == 0 and count == 0:
        return np.empty(0, np.int64)
    if given.dtype.kind not in "iu":
        raise DTypeError(f"cross_entropy: labels: have dtype {given.dtype}; integers are needed")
    if given.shape not in ((count,), (count, 1)):
        raise ShapeError(f"cross_entropy: labels: have shape {given.shape}; there are {count} rows of logits")
    given = given.reshape(count)
    wrong = (given < 0) | (given >= num_classes)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise IndexError(f"cross_entropy: labels: is {given[row]} at row {row}; there are {num_classes} classes")
    return given.astype(np.int64)


@cross_entropy.infer
def _(logits: Spec, labels: Spec) -> Spec:
    return Spec((logits.shape[0],), _float_of(logits.dtype), 0)


@cross_entropy.backward
def _(saved: Any, d: Array) -> tuple[Any, None]:
    powers, sums, classes = saved.hidden
    d_logits = powers * (d / sums)[:, None]
    d_logits[np.arange(len(classes)), classes] -= d
    return d_logits, None


def _reduction(function: Any) -> Op:
    """Make an operator that reduces axes of the values."""
    made = op(lod="share")(function)

    @made.infer
    def _(x: Spec, axis: int) -> Spec:
        dtype = np.dtype(np.add.reduce(np.empty(1, x.dtype)).dtype)
        if made.__name__ == "mean_of_values":
            dtype = _float_of(x.dtype) if x.dtype.kind == "f" else np.dtype(np.float64)
        at = axis % len(x.shape)
        return x._replace(shape=x.shape[:at] + x.shape[at + 1 :], dtype=dtype)

    return made


@_reduction
def sum_of_values(x: Dense, axis: int) -> Any:
    """Add up along an axis of the values, not that of the rows of a LoDTensor."""
    return aligned("sum", np.sum(rows_of(x), axis), x)


@sum_of_values.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    x = rows_of(saved.x)
    return (np.broadcast_to(np.expand_dims(d, saved.axis), x.shape),)


@_reduction
def mean_of_values(x: Dense, axis: int) -> Any:
    """Average along an axis of the values, not that of the rows of a LoDTensor."""
    return aligned("mean", np.mean(rows_of(x), axis), x)


@mean_of_values.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    x = rows_of(saved.x)
    return (np.broadcast_to(np.expand_dims(d / x.shape[saved.axis], saved.axis), x.shape),)


@op(lod="none")
def sum_of_all(x: Dense) -> Any:
    """Add up all values."""
    return np.sum(rows_of(x))


@sum_of_all.infer
def _(x: Spec) -> Spec:
    return Spec((), np.add.reduce(np.empty(1, x.dtype)).dtype)


@sum_of_all.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    x = rows_of(saved.x)
    return (np.broadcast_to(d, np.shape(x)),)


def sum(x: Any, axis: int | None = None) -> Any:
    """Add up values.

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int, optional
        All values, if not given. Of a LoDTensor the axes are those of its `shape`: sequences, one axis a level, then
        the axes of a row; the axis of the last level adds up the rows of each sequence.

    Returns
    -------
    LoDTensor, ndarray or number

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [], [3]])
    >>> int(lodcore.ops.sum(x)), lodcore.ops.sum(x, axis=1)
    (6, array([3, 0, 3]))
    """
    return _reduced("sum", x, axis)


def mean(x: Any, axis: int | None = None) -> Any:
    """Average values; axes as of `sum`.

    Returns
    -------
    LoDTensor, ndarray or number
        nan for no values; 0 for an empty sequence.

    Examples
    --------
    >>> import lodcore
    >>> float(lodcore.ops.mean(lodcore.array([[1, 2], [], [3]])))
    2.0
    """
    return _reduced("mean", x, axis)


def _reduced(name: str, x: Any, axis: int | None) -> Any:
    x = np.asarray(x) if isinstance(x, (list, tuple, int, float)) else x
    if axis is None:
        if name == "sum":
            return sum_of_all(x)
        return mean_of_all(x)
    ndim = x.ndim
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"{name}: axis: is {axis!r}; an integer is needed")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{name}: axis: is {axis}; x has {ndim} axes")
    levels = getattr(x, "num_levels", 0)
    at = axis % ndim
    if at > levels or not levels:
        function = sum_of_values if name == "sum" else mean_of_values
        return function(x, at - levels)
    if at == levels:
        from lodcore.ops.pool import sequence_pool  # type: ignore[import-not-found]

        return sequence_pool(x, name)
    raise TypeError(f"{name}: axis: is {axis}, along which sequences differ; axis {levels} or above is possible")


@op(lod="none")
def mean_of_all(x: Dense) -> Any:
    """Average all values."""
    values = np.asarray(rows_of(x))
    return np.mean(values) if values.size else np.float64(np.nan)


@mean_of_all.infer
def _(x: Spec) -> Spec:
    return Spec((), _float_of(x.dtype) if x.dtype.kind == "f" else np.dtype(np.float64))


@mean_of_all.backward
def _(saved: Any, d: Array) -> tuple[Any]:
    x = rows_of(saved.x)
    return (np.broadcast_to(d / builtins.max(x.size, 1), np.shape(x)),)
