"""Dropout: numbers are set to zero at random, and the others are scaled up."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.operators.choices import choose
from lodcore.operators.numbers import number_of
from lodcore.operators.operands import Array, array_of
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["dropout"]

WHERE = "dropout"


@operator(x=Dense)
def dropout(x: Any, rate: float, rng: np.random.Generator | None, *, saved: Saved = None) -> Any:
    """Set each number to zero with probability `rate`, and multiply the others by 1 / (1 - rate).

    Parameters
    ----------
    x : LoDTensor or array_like
        Floating-point numbers.
    rate : float
        The probability, 0 .. 1.
    rng : numpy.random.Generator or None
        The source of the mask: one float32 per number of x, in their order. None drops nothing, as needed for
        inference.

    Returns
    -------
    LoDTensor or ndarray
        x * (1 / (1 - rate)), with the factor rounded to the dtype of x, at most its greatest number, where the random
        number is at least `rate`, 0 elsewhere; it has the LoD and dtype of x. All zeros for a rate of 1; x itself for a
        rate of 0, and without a generator.

    Raises
    ------
    DTypeError, ValueError
        If x does not hold floating-point numbers, rate is not a number or out of bounds, or rng is neither of these.

    Notes
    -----
    The same mask is applied to the gradient. A Program draws a new one in each run, and a loop in each step; a loop
    with `recompute=True` draws the same masks again in the backward pass.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0, 4.0]])
    >>> lodcore.nn.dropout(x, 0.5, np.random.default_rng(1))
    LoDTensor(3 sequences of lengths 0..2, float64: [[0., 4.], [], [6., 8.]])
    >>> lodcore.nn.dropout(x, 0.5, None)
    LoDTensor(3 sequences of lengths 0..2, float64: [[1., 2.], [], [3., 4.]])
    """
    values = array_of(WHERE, x)
    chance = _checked(values.dtype, rate, rng)
    if rng is None or chance == 0:
        return x if isinstance(x, LoDTensor) else values
    kept = np.asarray(rng.random(values.shape, np.float32) >= np.float32(chance))
    if saved is not None:
        saved["kept"] = kept
    return _masked(values, kept, chance)


def _checked(dtype: np.dtype[Any], rate: Any, rng: Any) -> float:
    """Check the arguments; return the rate."""
    if dtype.kind != "f":
        raise DTypeError(f"{WHERE}: x: has dtype {dtype}; floating-point numbers are needed")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise DTypeError(f"{WHERE}: rng: is {type(rng).__name__}; a numpy.random.Generator or None is needed")
    return number_of(f"{WHERE}: rate", rate, 0, 1)


def _masked(values: Array, kept: Array, rate: float) -> Array:
    """Keep the values that a mask selects, and scale them."""
    result: Array = choose(kept, values, values.dtype.type(0))
    if rate < 1:
        result *= values.dtype.type(min(1 / (1 - rate), float(np.finfo(values.dtype).max)))
    return result


@dropout.define_infer
def _(x: Spec, rate: float, rng: Any) -> Spec:
    _checked(x.dtype, rate, rng)
    return x


@dropout.define_vjp
def _(d: Array, rate: float, kept: Array | None) -> Array:
    return d if kept is None else _masked(d, kept, float(rate))


@dropout.define_steps
def _(rows: Any, x: Any, rate: float, rng: Any) -> Any:
    return x.value if rng is None or rate == 0 else rows.dropped(x, float(rate), rng)
