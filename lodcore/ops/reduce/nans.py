"""Reductions that ignore nan, over the axes of a ragged shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.caller import named_caller
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import native_dtype
from lodcore.base.memory import flag
from lodcore.base.naming import named, with_arguments
from lodcore.errors import DTypeError
from lodcore.operators.arguments import axis_of, dense_of
from lodcore.operators.numbers import is_real
from lodcore.operators.operands import Array, rows_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense
from lodcore.ops.elementwise.compare import equal, greater_than, logical_and
from lodcore.ops.elementwise.convert import cast
from lodcore.ops.elementwise.math import div, minus, mul
from lodcore.ops.elementwise.math import where as choose
from lodcore.ops.index.index import select_by_mask
from lodcore.ops.move.checked import check, rule
from lodcore.ops.move.expand import per_sequence
from lodcore.ops.reduce.axes import any as any_true
from lodcore.ops.reduce.axes import argmax, argmin, check_keepdims, check_kind, max, mean, min, prod, sum, tensor_of
from lodcore.ops.reduce.dates import extreme_time
from lodcore.ops.reduce.deviation import root_of, std, var
from lodcore.ops.reduce.product import refuse_empty
from lodcore.ops.reduce.reduce_values import as_number, axes_of, is_below, place_along, put_back
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["fill_nan", "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]


@operator(x=Dense)
def fill_nan(x: Any, value: float = 0.0) -> Any:
    """Replace each nan by a number.

    Parameters
    ----------
    x : LoDTensor or array_like
        Real numbers of at most float64; dtypes without nan are copied.
    value : float

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD and the dtype of x.

    Raises
    ------
    DTypeError
        If x does not hold real numbers, or value is not a number.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.fill_nan(lodcore.array([[1.0, float("nan")], [], [3.0]]))
    LoDTensor(3 sequences of lengths 0..2, float64: [[1., 0.], [], [3.]])
    """
    given = dense_of("fill_nan: x", x, levels=True)
    values = np.require(given, native_dtype(given.dtype), ["C", "A"])
    number = _filled(values.dtype, value)
    if values.dtype.kind != "f":
        made: Any = values.copy()
    elif values.dtype.itemsize == 2:
        made = choose(values == values, values, values.dtype.type(number))
    else:
        made = buffers.new_rows("fill_nan", values, len(values)) if values.ndim else np.empty_like(values)
        kernels.order.fill_nan(values.reshape(-1), number, made.reshape(-1))
    made = made.reshape(np.shape(x.values if isinstance(x, LoDTensor) else x))
    return lod_tensor_body.new_tensor(made, x.lod) if isinstance(x, LoDTensor) and x.num_levels else made


def _filled(dtype: np.dtype[Any], value: Any) -> float:
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DTypeError(f"fill_nan: x: has dtype {dtype}; real numbers of at most float64 are needed")
    if not is_real(value):
        raise DTypeError(f"fill_nan: value: is {value!r}; a number is needed")
    return float(value)


@fill_nan.define_infer
def _(x: Spec, value: float) -> Spec:
    _filled(x.dtype, value)
    return Spec(x.shape, native_dtype(x.dtype))


@fill_nan.define_vjp
def _(d: Array, x: Any) -> Array:
    values = np.asarray(rows_of(x))
    made: Array = choose(values == values, d, 0).astype(values.dtype, copy=False)
    return made


def _chosen(x: Any, where: Any) -> Any:
    """Return the mask of elements that are not nan, combined with a given mask."""
    if x.dtype.kind not in "fc":
        return where
    known = equal(x, x)
    return known if where is True else with_arguments({"y": "where"}, logical_and, known, where)


def _without(name: str, x: Any, where: Any) -> tuple[Any, Any]:
    """Replace nan by 0, so that it does not spoil derivatives; return also the mask of the other elements."""
    x = tensor_of(name, x)
    mask = _chosen(x, where)
    if mask is where:
        return x, mask
    return (fill_nan(x) if x.dtype.kind == "f" else choose(mask, x, x.dtype.type(0))), mask


@named
def nansum(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Sum the values that are not nan. The parameters are those of `sum`, without `level`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nansum(lodcore.array([[1.0, float("nan")], [], [3.0]]), axis=1)
    array([1., 0., 3.])
    """
    x = tensor_of("nansum", x)
    x = fill_nan(x) if x.dtype.kind == "f" else _without("nansum", x, where)[0]
    return sum(x, axis, dtype, out, keepdims, initial, where)


@named
def nanprod(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """Multiply the values that are not nan. The parameters are those of `sum`, without `level`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanprod(lodcore.array([[2.0, float("nan")], [], [3.0]]), axis=1)
    array([2., 1., 3.])
    """
    x, mask = _without("nanprod", x, where)
    return prod(x, axis, dtype, out, keepdims, initial, mask)


@named
def nanmean(
    x: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = True
) -> Any:
    """Compute the mean of the values that are not nan, or nan if all are.

    The parameters are those of `mean`, without `empty` and `level`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanmean(lodcore.array([[1.0, float("nan")], [], [3.0]]), axis=1)
    array([ 1., nan,  3.])
    """
    x, mask = _without("nanmean", x, where)
    if x.dtype.kind == "m":
        known = equal(x, x)
        return mean(x, axis, dtype, out, keepdims, where=known if mask is True else logical_and(known, mask))
    if where is not True or mask is True or dtype is not None:
        return mean(x, axis, dtype, out, keepdims, where=mask)
    if x.dtype == np.float16:
        found = nanmean(cast(x, np.float32), axis, None, out, keepdims, where=mask)
        return as_number(cast(found, np.float16))
    total, count = sum(x, axis, None, out, keepdims), sum(mask, axis, None, out, keepdims)
    known = choose(greater_than(count, 0), count, np.nan)
    return div(total, known if x.dtype.char in "dD" else cast(known, x.dtype.type(0).real.dtype))


@named
def nanvar(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """Compute the variance of the values that are not nan. The parameters are those of `var`, without `level`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanvar(lodcore.array([[1.0, float("nan"), 3.0], []]), axis=1)
    array([ 1., nan])
    """
    return _of_kept("nanvar", var, x, axis, dtype, out, ddof, keepdims, where)


@named
def nanstd(
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """Compute the square root of `nanvar`, with the same parameters.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanstd(lodcore.array([[1.0, float("nan"), 3.0], []]), axis=1)
    array([ 1., nan])
    """
    return _of_kept("nanstd", std, x, axis, dtype, out, ddof, keepdims, where)


def _of_kept(
    name: str, function: Any, x: Any, axis: Any, dtype: Any, out: None, ddof: Any, keepdims: bool, where: Any
) -> Any:
    """Compute variances of the values that are not nan; where sequences may become shorter, remove nan first."""
    x = tensor_of(name, x)
    levels = getattr(x, "num_levels", 0)
    plain = levels and axis is not None and where is True and x.dtype.kind == "f"
    if plain and is_below(axes_of(name, axis, x.ndim), levels):
        if x.ndim == levels + 1:
            return function(select_by_mask(x, equal(x, x)), axis, dtype, out, ddof, keepdims)
        if dtype is None and out is None and not keepdims and x.dtype.itemsize > 2:
            squared = _var_of_columns(x, axes_of(name, axis, x.ndim), ddof)
            return squared if function is var else root_of(squared)
    if axis is None and where is True and dtype is None and out is None and not keepdims and is_real(ddof):
        squared = _var_of_numbers(x, float(ddof))
        if squared is not None:
            return squared if function is var else np.sqrt(squared)
    x, mask = _without(name, x, where)
    return function(x, axis, dtype, out, ddof, keepdims, where=mask)


def _var_of_numbers(x: Any, ddof: float) -> Any:
    """Compute the variance of all values that are not nan, by the operations of `var` on arrays; None for others."""
    if isinstance(x, Symbol) or x.dtype not in (np.float32, np.float64):
        return None
    values = np.asarray(rows_of(x))
    known = values == values
    count = np.count_nonzero(known)
    if count <= ddof:
        return None
    with named_caller():
        distance = np.where(known, values, values.dtype.type(0))
        distance -= distance.sum() / values.dtype.type(count)
        np.multiply(distance, distance, out=distance, where=known)
        np.copyto(distance, 0, where=~known)
        return distance.sum() / values.dtype.type(count - ddof)


def _var_of_columns(x: Any, axes: tuple[int, ...], ddof: Any) -> Any:
    """Compute the variances of the columns of rows without nan: each column may have nan in other rows."""
    known = cast(equal(x, x), x.dtype)
    count, filled = sum(known, axes), fill_nan(x)
    average = div(sum(filled, axes), np.maximum(count, 1))
    distance = mul(minus(filled, per_sequence(x, average, axes[0] - 1)), known)
    left = minus(count, ddof)
    found = div(sum(mul(distance, distance), axes), choose(greater_than(left, 0), left, np.nan))
    return cast(found, x.dtype)


@named
def nanmax(
    x: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """Return the maximum of the values that are not nan, or nan if all are.

    Parameters and errors are those of `max`, without `empty` and `level`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanmax(lodcore.array([[1.0, float("nan")], [float("nan")], [3.0]]), axis=1)
    array([ 1., nan,  3.])
    """
    return _extreme("nanmax", max, -np.inf, x, axis, out, keepdims, initial, where)


@named
def nanmin(
    x: Any, axis: Any = None, out: None = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """Return the minimum of the values that are not nan, or nan if all are.

    Parameters and errors are those of `min`, without `empty` and `level`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanmin(lodcore.array([[1.0, float("nan")], [float("nan")], [3.0]]), axis=1)
    array([ 1., nan,  3.])
    """
    return _extreme("nanmin", min, np.inf, x, axis, out, keepdims, initial, where)


def _extreme(
    name: str, function: Any, last: float, x: Any, axis: Any, out: None, keepdims: bool, initial: Any, where: Any
) -> Any:
    """Return the maximum or minimum with nan, or NaT, replaced by the extreme that never wins."""
    x = tensor_of(name, x)
    if x.dtype.kind not in "fcmM":
        return function(x, axis, out, keepdims, initial, where)
    floats = x.dtype.kind == "f"
    known = None if floats else equal(x, x)
    filled = fill_nan(x, last) if floats else choose(known, x, _extreme_of(x.dtype, last))
    found = function(filled, axis, out, keepdims, initial, where)
    if initial is not None or (floats and not _holds(found, last)):
        return found
    known = equal(x, x) if floats else known
    missing = np.array("NaT" if x.dtype.kind in "mM" else np.nan, x.dtype)[()]
    return as_number(choose(any_true(known, axis, None, keepdims), found, missing))


def _extreme_of(dtype: np.dtype[Any], last: float) -> Any:
    """Return what never wins among dates, durations or complex numbers, which are in the order of their real parts."""
    return extreme_time(dtype, last) if dtype.kind in "mM" else dtype.type(complex(last, last))


def _holds(found: Any, last: float) -> bool:
    """Return whether a value that is known, or one that is not, may be this one: that of sequences of only nan."""
    values = found.values if isinstance(found, LoDTensor) else found
    return isinstance(found, Symbol) or bool(np.any(values == last))


@named
def nanargmax(x: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """Return the position of the maximum of the values that are not nan.

    The parameters are those of `argmax`, without `empty` and `level`.

    Raises
    ------
    ValueError
        If there are no values, or all are nan; the message names the first such sequence.
    ShapeError, DTypeError
        If the axis does not exist, or is not an integer.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanargmax(lodcore.array([[1.0, float("nan"), 2.0], [3.0]]), axis=1)
    array([2, 0])
    """
    return _place("nanargmax", max, -np.inf, x, axis, out, keepdims)


@named
def nanargmin(x: Any, axis: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """Return the position of the minimum of the values that are not nan. Parameters and errors as in `nanargmax`.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.ops.nanargmin(lodcore.array([[1.0, float("nan"), 2.0], [3.0]]), axis=1)
    array([0, 0])
    """
    return _place("nanargmin", min, np.inf, x, axis, out, keepdims)


def _place(name: str, function: Any, last: float, x: Any, axis: Any, out: None, keepdims: bool) -> Any:
    x = tensor_of(name, x)
    find = argmax if function is max else argmin
    if x.dtype.kind not in "fc":
        return find(x, axis, out, keepdims=keepdims)
    levels, keepdims = getattr(x, "num_levels", 0), flag(f"{name}: keepdims", keepdims)
    if levels:
        check_keepdims(name, axis, keepdims)
    axes = None if axis is None else (axis_of(f"{name}: axis", axis, x.ndim, "x has"),)
    if levels and axes is not None and axes[0] <= levels:  # before values are looked at, as when it is recorded
        check_kind(find.__name__, x.dtype, True)
    wide = levels and x.ndim > levels + 1
    if levels and axes == (levels,) and not wide and out is None and not isinstance(x, Symbol):
        filled = _with_last(x, last)
        if x.lod.lengths(levels - 1).all() and not _holds(function(filled, axis), last):
            return find(filled, axis, keepdims=keepdims)
    known = equal(x, x)
    # nan is replaced by -inf, and the first -inf that is not from nan is searched
    if axes is None or not levels or wide:
        x = check(not_all_nan, x, any_true(known, axis), where=name)
    if axes is None or not levels or axes[0] > levels:
        extreme = function(_with_last(x, last), axis, keepdims=axes is not None)
        return find_first(equal(x, extreme), known, axis, out, keepdims)

    def there(x: Any, level: int) -> Any:
        """Return the values that are searched; a sequence without any is refused, by a run if only that knows."""
        return _with_last(x, last) if wide else refuse_empty(select_by_mask(x, equal(x, x)), name, level)

    if axes[0] < levels:
        if out is not None:
            raise TypeError(f"{name}: out: is not supported; the result is a new tensor")

        def best(x: Any) -> Any:
            return equal(x, per_sequence(x, function(there(x, levels - 1), levels)))

        found = place_along("argmax", x, axes[0], best)
        return put_back(found, list(axes), levels) if keepdims else found
    level = axes[0] - 1
    extreme = function(there(x, level), axis)
    return find_first(equal(x, per_sequence(x, extreme, level)), known, axis, out, keepdims)


def _with_last(x: Any, last: float) -> Any:
    """Replace nan by the extreme that never wins."""
    return fill_nan(x, last) if x.dtype.kind == "f" else choose(equal(x, x), x, _extreme_of(x.dtype, last))


@rule
def not_all_nan(x: Any, found: Any, where: str) -> None:
    """Raise if all values are nan at a position of the result."""
    if type(found) is Spec:
        return
    values = np.asarray(rows_of(found))
    if not values.all():
        place = tuple(map(int, np.argwhere(~values)[0]))
        raise ValueError(f"{where}: x: holds only nan at position {place} of the result")


def find_first(best: Any, known: Any, axis: Any, out: None, keepdims: bool) -> Any:
    """Return the position of the first value that equals the extreme and is not masked out."""
    return argmax(logical_and(known, best), axis, out, keepdims=keepdims)
