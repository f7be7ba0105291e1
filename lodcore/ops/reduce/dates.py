"""Extremes of dates, sums and means of durations, computed on their integers; NaT propagates, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import native_dtype
from lodcore.ops.elementwise.compare import equal
from lodcore.ops.elementwise.convert import cast
from lodcore.ops.elementwise.math import add, elementwise, minus, mul
from lodcore.ops.elementwise.math import where as choose
from lodcore.ops.reduce.reduce_values import as_number

__all__: list[str] = []

WHOLE = np.dtype(np.int64)
HALF = 32  # of the bits of a duration


def are_dates(name: str, x: Any) -> bool:
    """Return whether a reduction must be computed by `reduce_dates`."""
    return x.dtype.kind in "mM" and (
        name in ("max", "min", "argmax", "argmin") or (name == "sum" and x.dtype.kind == "m")
    )


def reduce_dates(name: str, x: Any, reduce: Callable[..., Any], initial: Any, empty: Any) -> Any:
    """Reduce dates as integers.

    Parameters
    ----------
    name : {"max", "min", "argmax", "argmin", "sum"}
    x : LoDTensor or ndarray of datetime64 or timedelta64
    reduce : callable
        Reduces other values with the same structure: a function of the name, the values, `initial` and `empty`.
    initial, empty : optional
        Have the dtype of x; for "argmax" and "argmin", `empty` is a position.
    """
    above = name in ("max", "argmax")
    places = name in ("argmax", "argmin")
    first, none = (None if one is None else _as_numbers(one, above) for one in (initial, None if places else empty))
    found = reduce(name, _as_numbers(x, above), first, empty if places else none)
    if places:
        return found
    found = cast(add(found, 1) if above else found, x.dtype)
    if name == "sum":
        lost = reduce("any", elementwise([x], np.isnat), None, None)
        found = choose(lost, not_a_time(x.dtype), found)
    return as_number(found)


def not_a_time(dtype: np.dtype[Any]) -> Any:
    """Return NaT of a dtype, with its unit, since NumPy 2.5 warns of NaT without one."""
    return np.array("NaT", dtype)[()]


def extreme_time(dtype: np.dtype[Any], last: float) -> Any:
    """Return the least time of a dtype for a negative number, and the greatest for a positive one."""
    limits = np.iinfo(WHOLE)
    return np.array(limits.min + 1 if last < 0 else limits.max, WHOLE).view(native_dtype(dtype))[()]


def mean_of_durations(x: Any, reduce: Callable[[str, Any], Any], empty: Any) -> Any:
    """Average durations exactly, toward zero, even where their sum exceeds int64.

    Parameters
    ----------
    x : LoDTensor or ndarray of timedelta64
    reduce : callable
        Reduces other values with the same structure: a function of "sum" or "any", and of the values.
    empty : timedelta64, optional
        The mean of no values; by default NaT.
    """
    numbers, lost = cast(x, WHOLE), elementwise([x], np.isnat)
    count = reduce("sum", cast(equal(numbers, numbers), WHOLE))
    divisor = np.maximum(count, 1)
    high = reduce("sum", np.right_shift(numbers, HALF))  # the sums of halves of the bits are exact
    low = reduce("sum", np.bitwise_and(numbers, 2**HALF - 1))
    quotient = np.floor_divide(high, divisor)
    rest = add(mul(minus(high, mul(quotient, divisor)), 2**HALF), low)
    found = add(mul(quotient, 2**HALF), np.floor_divide(rest, divisor))
    between = np.logical_and(np.less(found, 0), np.greater(np.remainder(rest, divisor), 0))
    made = choose(reduce("any", lost), not_a_time(x.dtype), cast(add(found, cast(between, WHOLE)), x.dtype))
    return as_number(choose(np.greater(count, 0), made, not_a_time(x.dtype) if empty is None else empty))


def _as_numbers(x: Any, above: bool) -> Any:
    """Return dates as integers in which NaT is the least, or the greatest."""
    if not isinstance(x, Symbol) and not x.ndim:
        x = np.atleast_1d(x)
        return (x.astype(WHOLE) - int(above))[0]
    numbers = cast(x, WHOLE)
    return minus(numbers, 1) if above else numbers
