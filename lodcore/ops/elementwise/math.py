"""Elementwise math on arrays and on the rows of LoDTensors.

Operands broadcast on the ragged shape, as described in `lodcore.operators.alignment`.
"""

from __future__ import annotations

import functools
import operator as python
from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.errors import DTypeError
from lodcore.operators.alignment import broadcast_spec, dtype_of, shared
from lodcore.operators.arguments import list_of, operand_of
from lodcore.operators.choices import choose
from lodcore.operators.elementwise import elementwise_operator
from lodcore.operators.lod_rules import deepest
from lodcore.operators.operands import Array, array_of, operand_name
from lodcore.operators.registry import Op, operator
from lodcore.operators.roles import Dense, Operands
from lodcore.operators.vjp_rules import VJPRule
from lodcore.ops.elementwise.ufuncs import rule_of_ufunc, vjp_of_ufunc
from lodcore.tensors.kinds import is_foreign
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = [
    "add",
    "div",
    "elementwise",
    "exp",
    "log",
    "minus",
    "mul",
    "relu",
    "sigmoid",
    "sqrt",
    "stop_gradient",
    "tanh",
    "where",
]

# -- two operands ------------------------------------------------------------------------------------------------------


@elementwise_operator(function=np.add, on_arrays=python.add)
def add(x: Any, y: Any) -> Any:
    """Add elementwise.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        They broadcast as NumPy's arrays do, on the ragged shape: axes are aligned from the last. On a ragged axis, a
        dense operand has length 1; on axis 0, length 1 or one entry per sequence; use `x.with_values(v)` for one entry
        per row. Two LoDTensors must have equal LoDs, or the levels of one must be the first levels of the other; it has
        length 1 on the remaining ragged axes. A LoDTensor without axes of rows provides one number per row, for rows of
        any shape.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of the first operand with the most levels.

    Raises
    ------
    LoDError
        If two LoDs differ; the message names the first sequence that does.
    ShapeError
        If the shapes do not broadcast.
    DTypeError
        If an operand is not a tensor, or NumPy cannot add the dtypes.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.add(lodcore.array([[1, 2], [3]]), 10)
    LoDTensor(2 sequences of lengths 1..2, int64: [[11, 12], [13]])
    """


@add.define_vjp
def _(d: Array) -> tuple[Array, Array]:
    return d, d


@elementwise_operator(function=np.subtract, on_arrays=python.sub)
def minus(x: Any, y: Any) -> Any:
    """Subtract elementwise. Operands and errors are those of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.minus(lodcore.array([[1, 2], [3]]), 1)
    LoDTensor(2 sequences of lengths 1..2, int64: [[0, 1], [2]])
    """


@minus.define_vjp
def _(d: Array, needs: Any) -> tuple[Array, Any]:
    return d, -d if needs.y else None


@elementwise_operator(function=np.multiply, on_arrays=python.mul)
def mul(x: Any, y: Any) -> Any:
    """Multiply elementwise. Operands and errors are those of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.mul(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 4], [6]])
    """


@mul.define_vjp
def _(d: Array, x: Any, y: Any, needs: Any) -> tuple[Any, Any]:
    return d * y if needs.x else None, d * x if needs.y else None


@elementwise_operator(function=np.divide, on_arrays=python.truediv)
def div(x: Any, y: Any) -> Any:
    """Divide elementwise. Operands and errors are those of `add`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.div(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, float64: [[0.5, 1.], [1.5]])
    """


@div.define_vjp
def _(d: Array, y: Any, out: Any, needs: Any) -> tuple[Any, Any]:
    return d / y if needs.x else None, -d * out / y if needs.y else None


# -- one operand -------------------------------------------------------------------------------------------------------


@functools.cache
def float_of(where: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which NumPy computes functions of real numbers of a dtype."""
    return dtype_of(where, np.tanh, Spec((), dtype))


def _sigmoid(x: Any) -> Any:
    """Compute 1 / (1 + exp(-x)), by a kernel for float32 and float64."""
    x = np.asarray(x)
    if x.dtype.kind == "c":  # abs would drop the imaginary part
        raise TypeError("real numbers are needed")
    if not x.ndim:
        return _sigmoid(x.reshape(1))[0]
    dtype = float_of("sigmoid", x.dtype)
    if dtype.char not in "fd":
        return _sigmoid_by_numpy(x, dtype)
    if x.flags.f_contiguous and not x.flags.c_contiguous:
        return _sigmoid(x.T).T
    given = np.ascontiguousarray(x, dtype)
    out = np.empty(x.shape, dtype)
    kernels.gates.sigmoid(given.reshape(-1), out.reshape(-1))
    return out


def _sigmoid_by_numpy(x: Array, dtype: Any) -> Array:
    """Compute 1 / (1 + exp(-x)) without overflow: both branches are functions of exp(-|x|)."""
    small = np.abs(x.astype(dtype, copy=False))
    np.exp(np.negative(small, out=small), out=small)
    out = (x >= 0).astype(small.dtype)
    np.maximum(out, small, out=out)  # exp(-|x|) below zero, and 1 above, without a branch for each number
    small += 1
    out /= small
    return out


@elementwise_operator(function=_sigmoid)
def sigmoid(x: Any) -> Any:
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


@sigmoid.define_vjp
def _sigmoid_back(d: Array, out: Any) -> Any:
    derivative = 1 - out
    derivative *= out
    derivative *= d
    return derivative


@sigmoid.define_steps
def _(rows: Any, x: Any) -> Any:
    return rows.by_instruction("sigmoid", x, sigmoid.prepared_rule(_sigmoid_back))


@elementwise_operator(function=np.tanh)
def tanh(x: Any) -> Any:
    """Compute the hyperbolic tangent elementwise.

    Parameters
    ----------
    x : LoDTensor or array_like
        Numbers.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of x.

    Raises
    ------
    DTypeError
        If x does not hold numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.tanh(lodcore.array([[0.0], [1000.0]]))
    LoDTensor(2 sequences of length 1, float64: [[0.], [1.]])
    """


@tanh.define_vjp
def _(d: Array, out: Any) -> Any:
    derivative = 1 - out * out
    derivative *= d
    return derivative


def _relu(x: Any) -> Any:
    x = x if hasattr(x, "astype") else np.asarray(x)
    if x.dtype.kind == "M":  # no date is 0
        raise TypeError("numbers are needed")
    return np.maximum(x, x.dtype.type(0))


@elementwise_operator(function=_relu)
def relu(x: Any) -> Any:
    """Compute max(x, 0) elementwise; nan stays nan, and the derivative at 0 is 0.

    Parameters
    ----------
    x : LoDTensor or array_like
        Numbers or durations.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of x.

    Raises
    ------
    DTypeError
        If x holds other values.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.relu([-1.0, 2.0])
    array([0., 2.])
    """


@relu.define_vjp
def _(d: Array, out: Any) -> Any:
    return choose(out > 0, d, 0)  # also if a cotangent is infinite


@operator(x=Dense, differentiable=False)
def stop_gradient(x: Any) -> Any:
    """Return a tensor through which no gradient passes: a constant for `vjp` and `append_backward`.

    Parameters
    ----------
    x : LoDTensor or array_like

    Returns
    -------
    LoDTensor or ndarray
        The values of x, which share its memory.

    Examples
    --------
    >>> import lodcore
    >>> def f(x):
    ...     return lodcore.ops.sum(x * lodcore.stop_gradient(x))
    >>> lodcore.value_and_grad(f)(lodcore.array([[1.0, 2.0], [3.0]]))
    (np.float64(14.0), LoDTensor(2 sequences of lengths 1..2, float64: [[1., 2.], [3.]]))
    """
    return x if isinstance(x, LoDTensor) and x.num_levels else array_of("stop_gradient", x)


stop_gradient.cuts = True


@stop_gradient.define_steps
def _(rows: Any, x: Any) -> Any:
    return rows.cut(x)


@stop_gradient.define_infer
def _(x: Spec) -> Spec:
    return Spec(x.shape, x.dtype)


@elementwise_operator(function=np.exp)
def exp(x: Any) -> Any:
    """Compute the exponential elementwise.

    Parameters
    ----------
    x : LoDTensor or array_like
        Numbers.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of x.

    Raises
    ------
    DTypeError
        If x does not hold numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.exp([0.0, 1.0])
    array([1.        , 2.71828183])
    """


@exp.define_vjp
def _(d: Array, out: Any) -> Any:
    return d * out


@elementwise_operator(function=np.log)
def log(x: Any) -> Any:
    """Compute the natural logarithm elementwise, with NumPy's warnings.

    Parameters
    ----------
    x : LoDTensor or array_like
        Numbers.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of x.

    Raises
    ------
    DTypeError
        If x does not hold numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.log([1.0, 2.0])
    array([0.        , 0.69314718])
    """


@log.define_vjp
def _(d: Array, x: Any) -> Any:
    return d / x


@elementwise_operator(function=np.sqrt)
def sqrt(x: Any) -> Any:
    """Compute the square root elementwise.

    Parameters
    ----------
    x : LoDTensor or array_like
        Numbers.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of x.

    Raises
    ------
    DTypeError
        If x does not hold numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sqrt([4.0, 9.0])
    array([2., 3.])
    """


@sqrt.define_vjp
def _(d: Array, out: Any) -> Any:
    return d / (2 * out)


# -- any ufunc ---------------------------------------------------------------------------------------------------------


class UfuncOp(Op):
    """The operator for all ufuncs, whose vjp rule is that of the given ufunc."""

    elementwise = True

    def rule_of(self, arguments: Sequence[Any]) -> VJPRule:
        """Return the vjp rule of a call whose arguments are in the order of the parameters."""
        return vjp_of_ufunc(arguments[self.slots["ufunc"]])

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Spec of the result; errors name the ufunc."""
        ufunc, xs = arguments["ufunc"], arguments["xs"]
        for j, x in enumerate(xs if isinstance(ufunc, np.ufunc) and isinstance(xs, (list, tuple)) else ()):
            if type(x) is Spec and not is_foreign(x.kind):
                operand_of(f"{ufunc.__name__}: {operand_name(ufunc.__name__, j)}", x)
        return super().infer_arguments(arguments)

    @property
    def differentiable(self) -> bool:
        """Whether there is a gradient rule, as for most ufuncs."""
        return True


@operator(xs=Operands, lod_rule=deepest, kind=UfuncOp)
def elementwise(xs: Any, ufunc: np.ufunc) -> Any:
    """Apply a NumPy ufunc that has one result.

    Parameters
    ----------
    xs : list of LoDTensor, array or number
        The operands; they broadcast as those of `add`.
    ufunc : numpy.ufunc
        Its gradient is known if its name is in `UFUNC_RULES`
        (`from lodcore.ops.elementwise.ufuncs import UFUNC_RULES`).

    Returns
    -------
    LoDTensor or ndarray

    Raises
    ------
    DTypeError
        If `ufunc` is not a ufunc with this number of operands and one result.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.ops.elementwise([lodcore.array([[1, -2], [3]])], np.negative)
    LoDTensor(2 sequences of lengths 1..2, int64: [[-1, 2], [-3]])
    """
    _check_ufunc(ufunc, xs)
    for x in xs:
        if type(x) is list or type(x) is tuple:
            xs = Operands.constant("elementwise: xs", xs)
            break
    return shared(ufunc.__name__, ufunc, *xs)


@elementwise.define_steps
def _(rows: Any, xs: list[Any], ufunc: np.ufunc) -> Any:
    return rows.elementwise(ufunc, xs, rule_of_ufunc(ufunc))


def _check_ufunc(ufunc: Any, xs: Any) -> None:
    if type(xs) is not list:
        list_of("elementwise: xs", xs)
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1 or ufunc.signature is not None:
        raise DTypeError(f"elementwise: ufunc: is {ufunc!r}; a ufunc with one result is needed")
    if len(xs) != ufunc.nin:
        raise DTypeError(f"elementwise: xs: a list of {ufunc.nin} operands is needed for {ufunc.__name__}")


@elementwise.define_infer
def _(xs: list[Any], ufunc: np.ufunc) -> Spec:
    _check_ufunc(ufunc, xs)
    return broadcast_spec(ufunc.__name__, ufunc, *xs)


@elementwise_operator(function=choose)
def where(condition: Any, x: Any, y: Any) -> Any:
    """Return elementwise x where a condition holds, y elsewhere.

    Parameters
    ----------
    condition, x, y : LoDTensor, array_like or number
        Broadcast as the operands of `add` do.

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


@where.define_vjp
def _(d: Array, condition: Any, needs: Any) -> tuple[None, Any, Any]:
    return None, choose(condition, d, 0) if needs.x else None, choose(condition, 0, d) if needs.y else None
