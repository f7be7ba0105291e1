"""The loss of logits of two classes, elementwise; that of several classes is `cross_entropy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.operators.choices import choose
from lodcore.operators.elementwise import elementwise_operator
from lodcore.operators.operands import Array

__all__ = ["sigmoid_cross_entropy"]


@elementwise_operator
def sigmoid_cross_entropy(x: Any, y: Any) -> Any:
    """Compute log(1 + exp(x)) - x * y elementwise: the loss of logits x and labels y.

    Sure logits lose no digits, and infinite ones have the limits.

    Parameters
    ----------
    x, y : LoDTensor, array_like or number
        Real numbers that broadcast as the operands of `add` do.

    Returns
    -------
    LoDTensor or ndarray

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.sigmoid_cross_entropy([0.0, 90.0, -90.0], [1.0, 1.0, 1.0]).round(2)
    array([ 0.69,  0.  , 90.  ])
    """
    size, apart, _ = _apart(x, y)
    with np.errstate(invalid="ignore"):  # 0 times infinity
        missed = choose(apart == 0, 0, apart * size)
    return np.log1p(np.exp(0 - size)) + missed  # not -size: the sign of nan would depend on the order of memory


@sigmoid_cross_entropy.define_vjp
def _(d: Array, x: Any, y: Any, needs: Any) -> tuple[Any, Any]:
    size, apart, positive = _apart(x, y)
    power = np.exp(0 - size)
    away = apart - power / (1 + power)  # less the probability of the other class
    d_x = d * choose(positive, away, -away) if needs.x else None
    if not needs.y:
        return d_x, None
    with np.errstate(invalid="ignore"):  # 0 times infinity
        return d_x, choose(np.equal(d, 0), 0, -d * x)


def _apart(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return abs(x), how far y is from the class that is the likelier one, and whether that is 1: x is positive."""
    size, positive = np.abs(np.copysign(x, y)), np.greater(x, 0)  # in the dtype of functions of two real numbers
    return size, choose(positive, size.dtype.type(1) - y, y), positive
