"""Comparisons and logic, elementwise; the structure is shared as in `lodcore.ops.math`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lodcore.ops.common import broadcast_spec, shared
from lodcore.registry import Dense, Op, Spec, op

__all__ = [
    "equal",
    "greater_equal_than",
    "greater_than",
    "less_equal_than",
    "less_than",
    "logical_and",
    "logical_not",
    "logical_or",
    "not_equal",
]


def _without_gradient(function: Any) -> Op:
    """Make an operator whose result is true or false."""
    made = op(lod="share", gradient=False)(function)

    @made.infer
    def _(x: Any, y: Any = False) -> Spec:
        return broadcast_spec(made.__name__, np.dtype(bool), x, y)

    return made


@_without_gradient
def less_than(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether x < y.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        Dense operands broadcast against the rows.

    Returns
    -------
    LoDTensor or ndarray of bool
        With the LoD of the first operand that has one.

    Raises
    ------
    LoDError
        If both have a LoD, and not the same.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.less_than(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, bool: [[True, False], [False]])
    """
    return shared("less_than", np.less, x, y)


@_without_gradient
def less_equal_than(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether x <= y; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.less_equal_than(2, 2))
    True
    """
    return shared("less_equal_than", np.less_equal, x, y)


@_without_gradient
def greater_than(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether x > y; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.greater_than(2, 2))
    False
    """
    return shared("greater_than", np.greater, x, y)


@_without_gradient
def greater_equal_than(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether x >= y; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.greater_equal_than(2, 2))
    True
    """
    return shared("greater_equal_than", np.greater_equal, x, y)


@_without_gradient
def equal(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether x == y; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.equal(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, bool: [[False, True], [False]])
    """
    return shared("equal", np.equal, x, y)


@_without_gradient
def not_equal(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether x != y; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.not_equal(2, 2))
    False
    """
    return shared("not_equal", np.not_equal, x, y)


@_without_gradient
def logical_and(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether both are true; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.logical_and([True, True], [True, False])
    array([ True, False])
    """
    return shared("logical_and", np.logical_and, x, y)


@_without_gradient
def logical_or(x: Dense, y: Dense) -> Any:
    """Tell elementwise whether one is true; operands and errors as of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.logical_or([True, False], [False, False])
    array([ True, False])
    """
    return shared("logical_or", np.logical_or, x, y)


@_without_gradient
def logical_not(x: Dense) -> Any:
    """Tell elementwise whether it is false.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.logical_not([True, False])
    array([False,  True])
    """
    return shared("logical_not", np.logical_not, x)


less_than.on_arrays, less_equal_than.on_arrays = operator.lt, operator.le
greater_than.on_arrays, greater_equal_than.on_arrays = operator.gt, operator.ge
