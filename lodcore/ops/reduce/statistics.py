"""Weighted averages, moments, covariance, correlation and linear fits, along an axis of the ragged shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.memory import flag, integer
from lodcore.base.naming import named, with_arguments
from lodcore.errors import DTypeError
from lodcore.ops.elementwise.compare import greater_than, logical_and, not_equal
from lodcore.ops.elementwise.convert import cast, full_like
from lodcore.ops.elementwise.math import add, div, minus, mul, sqrt, where
from lodcore.ops.move.values import spread
from lodcore.ops.reduce import axes as reductions
from lodcore.ops.reduce.axes import tensor_of
from lodcore.ops.reduce.reduce_values import as_number, axes_of, brought_last, is_below

#: Numbers whose standard deviation is not greater than this many units of rounding of their average are constant.
ROUNDING = 4

__all__ = ["average", "corr", "cov", "linear_fit", "moment"]


def _real(name: str, argument: str, x: Any) -> Any:
    """Return real numbers as floats."""
    made = tensor_of(name, x)
    if made.dtype.kind not in "biuf":
        raise DTypeError(f"{name}: {argument}: has dtype {made.dtype}; real numbers are needed")
    return made if made.dtype.kind == "f" else cast(made, np.float64)


def _sum(x: Any, weights: Any, axis: Any, keepdims: bool = False) -> Any:
    """Sum weighted values."""
    return reductions.sum(x if weights is None else mul(x, weights), axis, keepdims=keepdims)


def _mass(x: Any, weights: Any, axis: Any, keepdims: bool = False) -> Any:
    """Sum weights, or count values."""
    each = full_like(x, 1) if weights is None else with_arguments({"x": "weights", "y": "x"}, spread, weights, x)
    return reductions.sum(each, axis, keepdims=keepdims)


def _reals(name: str, **given: Any) -> tuple[list[Any], list[float]]:
    """Return real numbers, and weights if there are any, as floats of one dtype, and the rounding of their own."""
    made = [None if x is None and argument == "weights" else _real(name, argument, x) for argument, x in given.items()]
    dtypes = [x.dtype for x in made if x is not None]
    common = np.result_type(*dtypes)
    floats = [x if x is None or x.dtype == common else cast(x, common) for x in made]
    return floats, [float(np.finfo(dtype).eps) for dtype in dtypes]


@named
def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Average values with weights, as `numpy.average` does.

    Parameters
    ----------
    x : LoDTensor or array_like
        Real numbers.
    axis : int or tuple of int, optional
        As in `lodcore.ops.sum`; by default all values.
    weights : LoDTensor or array_like, optional
        Broadcast with x; by default all are 1.
    returned : bool
        Whether to return the sum of the weights, too.
    keepdims : bool

    Returns
    -------
    LoDTensor, ndarray or number, or a tuple of two
        nan where the sum of the weights is 0.

    Raises
    ------
    DTypeError, ShapeError, LoDError
        If x or weights are not real numbers or do not broadcast, or the axis does not exist.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 3.0], [], [5.0]])
    >>> lodcore.average(x, axis=1, weights=lodcore.array([[3.0, 1.0], [], [2.0]]))
    array([1.5, nan, 5. ])
    """
    (x, weights), _ = _reals("average", x=x, weights=weights)
    returned, keepdims = flag("average: returned", returned), flag("average: keepdims", keepdims)
    if weights is None:
        found = reductions.mean(x, axis, keepdims=keepdims)
        return (found, as_number(cast(_mass(x, None, axis, keepdims), found.dtype))) if returned else found
    mass = _mass(x, weights, axis, keepdims)
    found = _ratio(_sum(x, weights, axis, keepdims), mass)
    return (found, as_number(cast(mass, found.dtype))) if returned else found


def _or_nan(known: Any, x: Any) -> Any:
    """Return nan where a result does not exist, from which no gradient comes: x is a number there, as all before it."""
    return as_number(where(known, x, float("nan")))


def _ratio(x: Any, mass: Any) -> Any:
    """Divide by sums of weights; nan where they are 0."""
    return _or_nan(not_equal(mass, 0), div(x, _divisor(mass)))


def _divisor(mass: Any) -> Any:
    """Return sums of weights, 1 instead of 0."""
    return where(not_equal(mass, 0), mass, 1)


@named
def moment(x: Any, n: int, axis: Any = None, weights: Any = None) -> Any:
    """Compute the moment about 0: the average of powers of values.

    Parameters
    ----------
    x : LoDTensor or array_like
    n : int
        The power, 0 or more.
    axis, weights
        As in `average`.

    Returns
    -------
    LoDTensor, ndarray or number
        nan where the sum of the weights is 0.

    Raises
    ------
    ValueError
        If n is negative.
    DTypeError, ShapeError, LoDError
        If n is not an integer, x or weights are not real numbers or do not broadcast, or the axis does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.moment(lodcore.array([[1.0, 3.0], [], [5.0]]), 2, axis=1)
    array([ 5., nan, 25.])
    """
    (x, weights), _ = _reals("moment", x=x, weights=weights)
    power = integer("moment: n", n)
    if power < 0:
        raise ValueError(f"moment: n: is {power}; 0 or more is needed")
    raised = full_like(x, 1) if power == 0 else x
    for bit in f"{power:b}"[1:]:  # from the second binary digit: squares, times x where it is 1
        raised = mul(raised, raised)
        raised = mul(raised, x) if bit == "1" else raised
    return average(raised, axis, weights)


def _together(name: str, axis: Any, *operands: Any) -> tuple[Any, ...]:
    """Move coarser axes of levels after the others, so that the reduced result broadcasts with its operand.

    Returns
    -------
    tuple
        The axis, and the operands with the shape of the first one.
    """
    x = operands[0]
    levels = getattr(x, "num_levels", 0)
    if axis is None or not levels:
        return axis, *operands
    axes = axes_of(name, axis, x.ndim)
    upper = [one for one in axes if one <= levels]
    if not upper or len(upper) > levels or is_below(tuple(upper), levels):
        return axis, *operands
    others = [one if one is None else spread(one, x) for one in operands[1:]]
    moved = [one if one is None else brought_last(one, upper) for one in (x, *others)]
    return tuple(one - len(upper) + 1 for one in (levels, *axes[len(upper) :])), *moved


def _centred(name: str, x: Any, axis: Any, weights: Any) -> Any:
    """Subtract the mean from values."""
    x = _real(name, "x", x)
    return minus(x, _mean(x, axis, weights, keepdims=axis is not None))


def _mean(x: Any, axis: Any, weights: Any, keepdims: bool = False) -> Any:
    """Average values; 0 where the weights are 0."""
    if weights is None:
        return reductions.mean(x, axis, keepdims=keepdims)
    return div(_sum(x, weights, axis, keepdims), _divisor(_mass(x, weights, axis, keepdims)))


@named
def cov(x: Any, y: Any, axis: Any = None, weights: Any = None, ddof: Any = 0) -> Any:
    """Compute the covariance of two variables: the average product of their distances from the means.

    Parameters
    ----------
    x, y : LoDTensor or array_like
        Must broadcast.
    axis : int or tuple of int, optional
        As in `lodcore.ops.sum`.
    weights
        As in `average`.
    ddof : number
        Subtracted from the sum of the weights to give the divisor.

    Returns
    -------
    LoDTensor, ndarray or number

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 3.0], [], [5.0]])
    >>> lodcore.cov(x, x * 2, axis=1)
    array([ 2., nan,  0.])
    """
    (x, y, weights), _ = _reals("cov", x=x, y=y, weights=weights)
    axis, x, y, weights = _together("cov", axis, x, y, weights)
    product = mul(_centred("cov", x, axis, weights), _centred("cov", y, axis, weights))
    total, left = _sum(product, weights, axis), _mass(product, weights, axis)
    if ddof == 0:
        return _ratio(total, left)
    left = minus(left, ddof)
    known = greater_than(left, 0)
    return _or_nan(known, div(total, where(known, left, 1)))


@named
def corr(x: Any, y: Any, axis: Any = None, weights: Any = None) -> Any:
    """Compute the correlation of two variables: their covariance divided by the product of their standard deviations.

    Parameters
    ----------
    x, y, axis, weights
        As in `cov`.

    Returns
    -------
    LoDTensor, ndarray or number
        nan where x or y is constant, up to the rounding of numbers of their size.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 3.0, 2.0], [1.0]])
    >>> lodcore.corr(x, -x, axis=1)
    array([-1., nan])
    """
    (x, y, weights), eps = _reals("corr", x=x, y=y, weights=weights)
    axis, x, y, weights = _together("corr", axis, x, y, weights)
    one, other = _centred("corr", x, axis, weights), _centred("corr", y, axis, weights)
    mass = _mass(one, weights, axis)
    pairs = ((one, _mean(x, axis, weights), eps[0]), (other, _mean(y, axis, weights), eps[1]))
    (squares, varies), (others, others_vary) = (_squares(*pair, mass, weights, axis) for pair in pairs)
    found = div(_sum(mul(one, other), weights, axis), mul(sqrt(squares), sqrt(others)))
    return _or_nan(logical_and(varies, others_vary), found)


def _squares(centred: Any, middle: Any, eps: float, mass: Any, weights: Any, axis: Any) -> tuple[Any, Any]:
    """Sum the squares of centred numbers, and return whether these vary but for rounding; the sum is 1 if not."""
    squares, rest = _sum(mul(centred, centred), weights, axis), _sum(centred, weights, axis)
    least = mul(mul(middle, middle), mul(mass, (ROUNDING * eps) ** 2))
    exact = minus(squares, div(mul(rest, rest), _divisor(mass)))  # since the average of many numbers is not
    known = logical_and(not_equal(mass, 0), not_equal(squares, 0))  # with negative weights, either may be 0
    varies = logical_and(known, greater_than(exact, add(least, mul(squares, 0.01))))
    return where(varies, squares, 1), varies


@named
def linear_fit(x: Any, y: Any, axis: Any = None, weights: Any = None) -> tuple[Any, Any, Any, Any]:
    """Fit lines by least squares: y = intercept + slope * x.

    Parameters
    ----------
    x, y, axis, weights
        As in `cov`; weights are 1 / error ** 2 for the error of y. x may have one number per row where y has several.

    Returns
    -------
    intercept, slope, intercept_error, slope_error : LoDTensor, ndarray or number
        nan where x is constant, that is, differs from its average by no more than the rounding of numbers of its size.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[0.0, 1.0, 2.0], [1.0]])
    >>> intercept, slope, *errors = lodcore.linear_fit(x, x * 3 + 1, axis=1)
    >>> intercept, slope
    (array([ 1., nan]), array([ 3., nan]))
    """
    (x, y, weights), eps = _reals("linear_fit", x=x, y=y, weights=weights)
    if getattr(x, "num_levels", 0) and x.ndim < y.ndim:
        x = spread(x, y)  # one x for all columns of y
    elif not getattr(x, "num_levels", 0) and x.shape != y.shape:
        x = add(x, full_like(y, 0))  # in the shape of both: its squares are added up as often as products with y
    axis, x, y, weights = _together("linear_fit", axis, x, y, weights)
    # Both, since the distances of x do not add up to 0 exactly, and what is left would be multiplied by the mean of y.
    one, other = _centred("linear_fit", x, axis, weights), _centred("linear_fit", y, axis, weights)
    mass = _mass(one, weights, axis)
    middle = _mean(x, axis, weights)
    squares, varies = _squares(one, middle, eps[0], mass, weights, axis)
    slope = div(_sum(mul(one, other), weights, axis), squares)
    intercept = minus(_mean(y, axis, weights), mul(slope, middle))
    each, share = div(full_like(mass, 1), _divisor(mass)), div(mul(middle, middle), squares)
    intercept_error, slope_error = sqrt(add(each, share)), sqrt(div(full_like(mass, 1), squares))
    intercept, slope = _or_nan(varies, intercept), _or_nan(varies, slope)
    return intercept, slope, _or_nan(varies, intercept_error), _or_nan(varies, slope_error)
