"""Extremes of dates and sums of time differences, computed on their integers; NaT propagates, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.ops.convert import cast
from lodcore.ops.math import add, elementwise, minus
from lodcore.ops.math import where as choose

__all__: list[str] = []

WHOLE = np.dtype(np.int64)


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
    x : LoDTensor of datetime64 or timedelta64
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
    if name != "sum":
        return found
    lost = reduce("any", elementwise([x], np.isnat), None, None)
    return choose(lost, np.array("NaT", x.dtype)[()], found)  # NumPy 2.5 warns of NaT without a unit


def _as_numbers(x: Any, above: bool) -> Any:
    """Return dates as integers in which NaT is the least, or the greatest."""
    if not isinstance(x, Symbol) and not hasattr(x, "values"):
        x = np.atleast_1d(x)
        return (x.astype(WHOLE) - int(above))[0]
    numbers = cast(x, WHOLE)
    return minus(numbers, 1) if above else numbers
