"""NumPy's functions that compute number by number: constants, bounds, rounding, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import ops
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import as_integer
from lodcore.base.naming import with_arguments
from lodcore.errors import DTypeError, ShapeError
from lodcore.numpy_api.dense import call, on_dense
from lodcore.numpy_api.protocols import refuse_symbols, stands_for
from lodcore.operators.alignment import shared
from lodcore.ops.elementwise.convert import sized
from lodcore.ops.reduce.axes import tensor_of
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["astype", "clip", "copy", "round"]


def _like(value: Any, where: str) -> Callable[..., Any]:
    def like(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: None = None, *, device: None = None
    ) -> Any:
        """Return a tensor of zeros, or of ones, with the structure of another one."""
        if shape is not None:
            raise TypeError(f"numpy.{where}: shape: is not supported; the result has the shape of a")
        return ops.full_like(a, np.zeros((), a.dtype if dtype is None else dtype)[()] if value == 0 else value, dtype)

    return like


stands_for(np.zeros_like, np.empty_like)(_like(0, "zeros_like"))
stands_for(np.ones_like)(_like(1, "ones_like"))


@stands_for(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: None = None,
    *,
    device: None = None,
) -> Any:
    """Return a tensor filled with one value, as `lodcore.ops.full_like` does."""
    if shape is not None:
        raise TypeError("numpy.full_like: shape: is not supported; the result has the shape of a")
    if not isinstance(fill_value, Symbol):
        return ops.full_like(a, fill_value, dtype)
    x, value = tensor_of("numpy.full_like", a), tensor_of("numpy.full_like", fill_value)
    made = x.dtype if dtype is None else sized("full_like", dtype, x)
    if value.ndim:
        raise ShapeError(f"numpy.full_like: fill_value: is a Variable of shape {value.shape}; a number is needed")
    if not np.can_cast(value.dtype, made, "same_kind"):
        raise DTypeError(f"numpy.full_like: fill_value: has dtype {value.dtype}; {made} cannot hold it")
    return ops.add(ops.full_like(x, 0, made), ops.cast(value, made))


@stands_for(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: None = None, *, min: Any = None, max: Any = None) -> Any:
    """Clip values to two bounds.

    Parameters
    ----------
    a_min, a_max : LoDTensor, array_like or number, optional
        The bounds, which align with the values; None for no bound. Where the lower one is above the upper one, the
        result is the upper one.
    out : None
        Not supported.
    min, max : optional
        Other names of the bounds.

    Returns
    -------
    LoDTensor
        A copy; its dtype is the one to which NumPy promotes values and bounds.

    Raises
    ------
    ValueError
        If a bound is given by both of its names.
    ShapeError, LoDError, DTypeError
        If a bound does not align, or is not comparable with the values.
    """
    if out is not None:
        raise TypeError("numpy.clip: out: is not supported; the result is a new tensor")
    for name, one, other in (("min", a_min, min), ("max", a_max, max)):
        if one is not None and other is not None:
            raise ValueError(f"numpy.clip: {name}: is given twice, as a_{name} too; one of them is needed")
    low, high = a_min if min is None else min, a_max if max is None else max
    dtype: Any = getattr(a, "dtype", None)
    if dtype is not None and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = limits.min if type(low) is int and low < limits.min else low  # as NumPy: below all values
        high = limits.max if type(high) is int and high > limits.max else high
        one_pass = type(a) is LoDTensor and type(low) is type(high) is int
        if one_pass and limits.min <= low <= limits.max and limits.min <= high <= limits.max:
            return shared("clip", lambda values: np.clip(values, low, high), a)
    if low is not None:
        a = with_arguments({"x": "a", "y": "a_min"}, ops.elementwise, [a, low], np.maximum)
    if high is not None:
        a = with_arguments({"x": "a", "y": "a_max"}, ops.elementwise, [a, high], np.minimum)
    return a if low is not None or high is not None else ops.cast(a, a.dtype)


@stands_for(np.round, np.around)
def round(a: Any, decimals: int = 0, out: None = None) -> Any:
    """Round to a number of decimals, halves to even.

    Parameters
    ----------
    decimals : int
        Below 0, positions before the point.
    out : None
        Not supported.

    Returns
    -------
    LoDTensor

    Raises
    ------
    DTypeError
        If the values are not numbers, or decimals is not an integer.
    """
    if out is not None:
        raise TypeError("numpy.round: out: is not supported; the result is a new tensor")
    places = as_integer(decimals, bools=True)
    if places is None or abs(places) > 300:
        raise DTypeError(f"round: decimals: is {decimals!r}; an integer of -300 .. 300 is needed")
    x = tensor_of("round", a)
    if x.dtype.kind not in "iufc":
        raise DTypeError(f"round: x: has dtype {x.dtype}; numbers are needed")
    if x.dtype.kind not in "fc":
        if places >= 0:
            return ops.cast(x, x.dtype)
        refuse_symbols("round", (x,))
        return shared("round", lambda values: np.round(values, places), x)
    if places == 0:
        return ops.elementwise([x], np.rint)
    if x.dtype.kind == "c":  # products lose signs of zero, and a complex infinity times a number is nan
        return _round_parts(x, places)
    if places < 0:
        return ops.mul(ops.elementwise([ops.div(x, 10.0**-places)], np.rint), 10.0**-places)
    return ops.div(ops.elementwise([ops.mul(x, 10.0**places)], np.rint), 10.0**places)


def _round_parts(x: Any, places: int) -> Any:
    """Round the real and the imaginary parts of complex numbers."""
    if not isinstance(x, Symbol):
        return shared("round", lambda values: np.round(values, places), x)
    levels: int = getattr(x, "num_levels", 0)
    rounded = call([ops.rows(x) if levels else x], "round", decimals=places)
    return ops.with_values(x, rounded) if levels else rounded


def astype(
    x: Any, dtype: Any, *, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """Convert to another dtype; without `copy`, what has the dtype is returned itself."""
    if casting != "unsafe" or not copy:
        made = sized("astype", dtype, x)
        try:
            if not np.can_cast(x.dtype, made, casting):
                raise DTypeError(f"astype: dtype: is {made}; {casting!r} casting does not convert {x.dtype} to it")
        except ValueError as error:  # for a rule that does not exist
            raise ValueError(f"astype: casting: is {casting!r}: {error}") from None
        if not copy and x.dtype == made:
            return x
    return ops.cast(x, dtype)


@stands_for(getattr(np, "astype", None))
@on_dense(getattr(np, "astype", None))
def astype_of(x: Any, dtype: Any, /, *, copy: bool = True, device: None = None) -> Any:
    """Convert to another dtype, as the method does."""
    return astype(x, dtype, copy=copy)


@stands_for(np.copy)
def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """Copy the values; the structure is shared."""
    return ops.cast(a, a.dtype)
