"""Losses of rows; that of classes is `cross_entropy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.naming import named
from lodcore.errors import DTypeError
from lodcore.operators.operands import known_value
from lodcore.ops import cast, index_values, mean, minus, mul
from lodcore.ops.elementwise.sigmoid_cross_entropy import sigmoid_cross_entropy
from lodcore.ops.reduce.axes import tensor_of
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["binary_cross_entropy", "mean_squared_error"]


@named
def mean_squared_error(x: Any, targets: Any) -> Any:
    """Compute the mean squared difference of each row from its target.

    Parameters
    ----------
    x : LoDTensor or array_like, shape (n, ...)
        Predictions: floating-point numbers.
    targets : LoDTensor or array_like
        Real numbers that broadcast with x; converted to its dtype.

    Returns
    -------
    LoDTensor or ndarray
        One loss per row, with the LoD and the dtype of x; their mean is that over all numbers.

    Raises
    ------
    DTypeError, ShapeError, LoDError
        If x does not hold floating-point numbers, or the targets are not real numbers or do not align with x.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [4.0]])
    >>> lodcore.nn.mean_squared_error(x, lodcore.array([[1, 4], [], [1]]))
    LoDTensor(3 sequences of lengths 0..2, float64: [[0., 4.], [], [9.]])
    """
    x, targets = _operands("mean_squared_error", x, targets, "targets")
    apart = minus(x, targets)
    squares = mul(apart, apart)
    rows = tuple(range(getattr(squares, "num_levels", 0) + 1, squares.ndim))
    return mean(squares, rows) if rows else squares


@named
def binary_cross_entropy(logits: Any, labels: Any) -> Any:
    """Compute the cross-entropy of two classes: log(1 + exp(logit)) - label * logit, without overflow.

    Parameters
    ----------
    logits : LoDTensor or array_like
        Floating-point numbers; their sigmoid is the probability of the label 1. The loss of infinity is 0 for the label
        1, that of -infinity for the label 0; for other labels both are infinity.
    labels : LoDTensor or array_like
        bool, or numbers 0 .. 1, that broadcast with the logits.

    Returns
    -------
    LoDTensor or ndarray
        One loss per logit, with the LoD and the dtype of logits.

    Raises
    ------
    DTypeError, ShapeError, LoDError
        If logits are not floating-point numbers, or labels are not real numbers or do not align with them.
    ValueError
        If a label is outside 0 .. 1; not checked where the labels are known only at run time.

    Examples
    --------
    >>> import lodcore
    >>> logits = lodcore.array([[0.0, 90.0], [], [-90.0]])
    >>> lodcore.nn.binary_cross_entropy(logits, lodcore.array([[True, True], [], [True]])).values.round(2)
    array([ 0.69,  0.  , 90.  ])
    """
    where = "binary_cross_entropy"
    logits, labels = _operands(where, logits, labels, "labels")
    if labels.ndim == logits.ndim + 1 and labels.shape[-1] == 1:  # (n,) and (n, 1) are both one number per row
        labels = index_values(labels, [Ellipsis, 0])
    elif logits.ndim == labels.ndim + 1 and labels.ndim and logits.shape[-1] == 1:
        labels = index_values(labels, [Ellipsis, None])
    known = known_value(labels)
    if known is not None:
        values = known.values if isinstance(known, LoDTensor) else np.asarray(known)
        within = (values >= 0) & (values <= 1)
        if not within.all():
            raise ValueError(f"{where}: labels: is {values[~within][0]}; 0 .. 1 is needed")
    return sigmoid_cross_entropy(logits, labels)


def _operands(where: str, x: Any, targets: Any, name: str) -> tuple[Any, Any]:
    """Return checked operands of a loss, the second one with the dtype of the first."""
    x, targets = tensor_of(where, x), tensor_of(where, targets)
    if x.dtype.kind != "f":
        first = "x" if name == "targets" else "logits"
        raise DTypeError(f"{where}: {first}: has dtype {x.dtype}; floating-point numbers are needed")
    if targets.dtype.kind not in "biuf":
        raise DTypeError(f"{where}: {name}: has dtype {targets.dtype}; real numbers are needed")
    return x, targets if targets.dtype == x.dtype else cast(targets, x.dtype)
