"""Comparisons and logic, elementwise; the structure is shared as in `lodcore.ops.elementwise.math`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lodcore.operators.elementwise import elementwise_operator

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


def _equal_entries(x: Any, y: Any) -> Any:
    """Compare entries; records, which NumPy's ufunc does not accept, are compared field by field as by its operator."""
    try:
        return np.equal(x, y)
    except TypeError:
        if not _are_records(x, y):
            raise
    return operator.eq(np.asarray(x), np.asarray(y))


def _unequal_entries(x: Any, y: Any) -> Any:
    """Compare entries, as `_equal_entries`."""
    try:
        return np.not_equal(x, y)
    except TypeError:
        if not _are_records(x, y):
            raise
    return operator.ne(np.asarray(x), np.asarray(y))


def _are_records(x: Any, y: Any) -> bool:
    return any(getattr(one, "dtype", np.dtype(float)).names is not None for one in (x, y))


@elementwise_operator(function=np.less, on_arrays=operator.lt, differentiable=False)
def less_than(x: Any, y: Any) -> Any:
    """Return elementwise whether x < y.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        Broadcast as the operands of `lodcore.ops.add` do.

    Returns
    -------
    LoDTensor or ndarray of bool
        Has the LoD of the first operand with the most levels.

    Raises
    ------
    LoDError
        If two LoDs differ.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.less_than(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, bool: [[True, False], [False]])
    """


@elementwise_operator(function=np.less_equal, on_arrays=operator.le, differentiable=False)
def less_equal_than(x: Any, y: Any) -> Any:
    """Return elementwise whether x <= y. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.less_equal_than(2, 2))
    True
    """


@elementwise_operator(function=np.greater, on_arrays=operator.gt, differentiable=False)
def greater_than(x: Any, y: Any) -> Any:
    """Return elementwise whether x > y. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.greater_than(2, 2))
    False
    """


@elementwise_operator(function=np.greater_equal, on_arrays=operator.ge, differentiable=False)
def greater_equal_than(x: Any, y: Any) -> Any:
    """Return elementwise whether x >= y. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.greater_equal_than(2, 2))
    True
    """


@elementwise_operator(function=_equal_entries, differentiable=False)
def equal(x: Any, y: Any) -> Any:
    """Return elementwise whether x == y, for records in all fields. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.equal(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, bool: [[False, True], [False]])
    """


@elementwise_operator(function=_unequal_entries, differentiable=False)
def not_equal(x: Any, y: Any) -> Any:
    """Return elementwise whether x != y, for records in any field. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> bool(lodcore.not_equal(2, 2))
    False
    """


@elementwise_operator(function=np.logical_and, differentiable=False)
def logical_and(x: Any, y: Any) -> Any:
    """Return elementwise whether both operands are true. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.logical_and([True, True], [True, False])
    array([ True, False])
    """


@elementwise_operator(function=np.logical_or, differentiable=False)
def logical_or(x: Any, y: Any) -> Any:
    """Return elementwise whether either operand is true. Operands and errors are those of `less_than`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.logical_or([True, False], [False, False])
    array([ True, False])
    """


@elementwise_operator(function=np.logical_not, differentiable=False)
def logical_not(x: Any) -> Any:
    """Return elementwise whether the operand is false.

    Parameters
    ----------
    x : LoDTensor or array_like
        bool, or numbers, of which 0 is false.

    Returns
    -------
    LoDTensor or ndarray of bool
        Has the LoD of x.

    Raises
    ------
    DTypeError
        If x holds other values.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.logical_not([True, False])
    array([False,  True])
    """
